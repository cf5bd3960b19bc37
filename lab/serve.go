package lab

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// serve runs a lab until ctx ends, after having done one thing with it.
func (o *Options) serve(ctx context.Context, out io.Writer, do func(*Lab, context.Context, io.Writer) error) error {
	o.Out = out
	o.own()
	l, err := Start(ctx, *o)
	if err != nil {
		return err
	}
	defer l.stopSaying(out)
	l.describe(out)
	if err := do(l, ctx, out); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nCtrl-C ends it all.")
	<-ctx.Done()
	return nil
}

// nothing is for serve.
func nothing(*Lab, context.Context, io.Writer) error { return nil }

func (l *Lab) stopSaying(out io.Writer) {
	fmt.Fprintln(out, "\nstopping ...")
	l.Stop()
	fmt.Fprintln(out, "Nothing of it is left running. Logs are in", l.path("logs"))
}

// describe prints where everything is.
func (l *Lab) describe(out io.Writer) {
	lines := [][2]string{
		// The setting stays with the clone, for pushes; the variable is for those who have it set otherwise.
		{"repository", fmt.Sprintf("GIT_SSL_CAINFO=%[1]s git clone -c http.sslCAInfo=%[1]s %[2]s", l.GitCA(), l.cloneURL())},
		{"management cluster", "kubectl --kubeconfig " + l.Kubeconfig + " get clusterclaims -A"},
		{"Proxmox VE", fmt.Sprintf("%s  sign in as %s with %s", l.Proxmox.PageURL(), Administrator.User, Administrator.Password)},
		{"data and logs", l.path()},
	}
	fmt.Fprintln(out)
	tell(out, append(l.describePage(), lines...))
	fmt.Fprintln(out)
}

// tell prints lines of what something is called and where it is.
func tell(out io.Writer, lines [][2]string) {
	for _, line := range lines {
		fmt.Fprintf(out, "  %-20s %s\n", line[0], line[1])
	}
}

// describePage says where people sign in, and as whom; nothing where there is no page.
func (l *Lab) describePage() [][2]string {
	if l.options.WithoutAppliance {
		return nil
	}
	as := func(a Account, may string) string {
		return fmt.Sprintf("%-10s  password %s  %s", a.User, a.Password, may)
	}
	return [][2]string{
		{"page", l.PageURL() + "  the browser warns of its certificate, whose CA is " + l.GitCA()},
		{"  an administrator", as(Administrator, "may do everything")},
		{"  with few rights", as(Viewer, "sees the clusters, and changes none")},
	}
}

// cloneURL is the repository's with who may push.
func (l *Lab) cloneURL() string {
	u := url.URL{Scheme: "https", Host: l.Git(), User: url.UserPassword(l.GitUser(), l.GitPassword())}
	u.Path = strings.TrimPrefix(l.RepositoryURL(), "https://"+l.Git())
	return u.String()
}
