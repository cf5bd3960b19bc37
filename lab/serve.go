package lab

import (
	"context"
	"fmt"
	"io"
	"net/url"
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
	repository := url.URL{Scheme: "https", User: url.UserPassword(gitUser, l.gitPassword), Host: l.Git(), Path: repositoryName}
	fmt.Fprintln(out)
	for _, line := range [][2]string{
		// The setting stays with the clone, for pushes; the variable is for those who have it set otherwise.
		{"repository", fmt.Sprintf("GIT_SSL_CAINFO=%[1]s git clone -c http.sslCAInfo=%[1]s %[2]s", l.GitCA(), &repository)},
		{"management cluster", "kubectl --kubeconfig " + l.Kubeconfig + " get clusterclaims -A"},
		{"Proxmox VE", fmt.Sprintf("%s  sign in as %s with %s", l.Proxmox.PageURL(), proxmoxUser, proxmoxSecret)},
		{"data and logs", l.path()},
	} {
		fmt.Fprintf(out, "  %-20s %s\n", line[0], line[1])
	}
	fmt.Fprintln(out)
}
