package choice

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/fstest"

	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
)

func root(available, limit, current string) fstest.MapFS {
	files := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal:       24683520 kB\nMemAvailable:   " + available + " kB\n")}}
	if limit != "" {
		files["sys/fs/cgroup/memory.max"] = &fstest.MapFile{Data: []byte(limit + "\n")}
		files["sys/fs/cgroup/memory.current"] = &fstest.MapFile{Data: []byte(current + "\n")}
	}
	return files
}

func TestMemoryIsThatOfTheMachineOrOfItsControlGroup(t *testing.T) {
	const plenty, little = "8388608", "1048576" // KiB
	for name, c := range map[string]struct {
		root   fstest.MapFS
		enough bool
	}{
		"plenty":                             {root(plenty, "", ""), true},
		"little":                             {root(little, "", ""), false},
		"a group without a limit":            {root(plenty, "max", "1"), true},
		"a group with room":                  {root(plenty, "8589934592", "1073741824"), true},
		"a group without room":               {root(plenty, "8589934592", "8053063680"), false},
		"no such figure":                     {fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal: 1 kB\n")}}, false},
		"a group's room is not the kernel's": {root(little, "8589934592", "0"), false},
	} {
		if err := enough(c.root); (err == nil) != c.enough {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stub makes clusters in name only.
type stub struct {
	kubeadm.Cluster
	name  string
	there map[string]bool
}

func (s *stub) Name() string { return s.name }

func (s *stub) Find(endpoint string) kubeadm.Cluster {
	if s.there[endpoint] {
		return s
	}
	return nil
}

func (s *stub) Init(_ context.Context, spec cluster.Spec, _ cluster.Node, _ []string) (kubeadm.Cluster, error) {
	s.there[spec.Endpoint] = true
	return s, nil
}

func TestTheKindOfACluster(t *testing.T) {
	full := errors.New("full")
	for _, c := range []struct {
		kind   Kind
		memory error
		want   string
	}{
		{Light, nil, "light"}, {Real, full, "real"}, {Auto, nil, "real"}, {Auto, full, "light"},
	} {
		clusters := &Clusters{
			Kind: c.kind, Enough: func() error { return c.memory }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Light: &stub{name: "light", there: map[string]bool{}}, Real: &stub{name: "real", there: map[string]bool{}},
		}
		made, err := clusters.Init(context.Background(), cluster.Spec{Endpoint: "e"}, cluster.Node{}, nil)
		if err != nil || made.Name() != c.want {
			t.Errorf("%s with memory %v: %v, error %v, want %s", c.kind, c.memory, made, err, c.want)
		}
		if found := clusters.Find("e"); found != made {
			t.Errorf("%s: found %v", c.kind, found)
		}
		if _, err := clusters.Init(context.Background(), cluster.Spec{Endpoint: "e"}, cluster.Node{}, nil); !errors.Is(err, cluster.ErrEndpointTaken) {
			t.Errorf("%s: a second one: error %v", c.kind, err)
		}
	}
}

func TestFindOfNothingIsNil(t *testing.T) {
	clusters := &Clusters{Kind: Light, Light: &stub{there: map[string]bool{}}}
	if found := clusters.Find("e"); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestParse(t *testing.T) {
	for _, k := range []Kind{Light, Real, Auto} {
		if got, err := Parse(string(k)); got != k || err != nil {
			t.Errorf("%s: %s, error %v", k, got, err)
		}
	}
	if _, err := Parse("heavy"); err == nil {
		t.Error("a kind that does not exist is accepted")
	}
}
