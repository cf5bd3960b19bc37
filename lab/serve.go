package lab

import (
	"context"
	"fmt"
	"io"
)

// serve runs a lab until ctx ends.
func (o *Options) serve(ctx context.Context, out io.Writer) error {
	o.Out = out
	o.own()
	l, err := Start(ctx, *o)
	if err != nil {
		return err
	}
	defer l.stopSaying(out)
	l.describe(out)
	<-ctx.Done()
	return nil
}

func (l *Lab) stopSaying(out io.Writer) {
	fmt.Fprintln(out, "\nstopping ...")
	l.Stop()
	fmt.Fprintln(out, "nothing of it is left running; logs are in", l.path("logs"))
}

// describe prints where everything is.
func (l *Lab) describe(out io.Writer) {
	fmt.Fprintf(out, "\nThe lab is up. Ctrl-C ends it.\n\n")
	for _, line := range [][2]string{
		{"management cluster", "export KUBECONFIG=" + l.Kubeconfig},
		{"logs", l.path("logs")},
	} {
		fmt.Fprintf(out, "  %-20s %s\n", line[0], line[1])
	}
}
