package machinestest

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Points holds writes against the kill points of a list of steps, so that a write that no test kills the agent behind
// is found. Give Reach to what a test interrupts with, and call End when the work has ended.
type Points struct {
	// Count is how many writes there were so far.
	Count func() int
	// Most is the greatest number of writes between two neighbouring kill points, the beginning and the end being two as
	// well, and At is the later of those. Reached are the kill points in order.
	Most    int
	At      string
	Reached []string

	seen int
}

// Reach is a kill point that kills nothing.
func (p *Points) Reach(step string) error {
	p.Reached = append(p.Reached, step)
	p.note(step)
	return nil
}

// End is the end of the work, and how many writes came behind the last kill point.
func (p *Points) End() (behind int) { return p.note("the end") }

func (p *Points) note(at string) int {
	n := p.Count() - p.seen
	p.seen += n
	if n > p.Most {
		p.Most, p.At = n, at
	}
	return n
}

// Counted is a client that adds its writes to n; what is only tried counts for nothing.
func Counted(c client.WithWatch, n *int) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			*n += counts((&client.CreateOptions{}).ApplyOptions(opts).DryRun)
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			*n += counts((&client.UpdateOptions{}).ApplyOptions(opts).DryRun)
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			*n += counts((&client.PatchOptions{}).ApplyOptions(opts).DryRun)
			return c.Patch(ctx, o, patch, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			*n += counts((&client.ApplyOptions{}).ApplyOptions(opts).DryRun)
			return c.Apply(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			*n += counts((&client.DeleteOptions{}).ApplyOptions(opts).DryRun)
			return c.Delete(ctx, o, opts...)
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteAllOfOption) error {
			*n++
			return c.DeleteAllOf(ctx, o, opts...)
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, body client.Object, opts ...client.SubResourceCreateOption) error {
			*n++
			return c.SubResource(sub).Create(ctx, o, body, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			*n++
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			*n++
			return c.SubResource(sub).Patch(ctx, o, patch, opts...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, sub string, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			*n++
			return c.SubResource(sub).Apply(ctx, o, opts...)
		},
	})
}

// counts is 1 for a write, and 0 for one that is only tried.
func counts(dryRun []string) int {
	if len(dryRun) > 0 {
		return 0
	}
	return 1
}
