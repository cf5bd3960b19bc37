package bench

import (
	"maps"
	"testing"

	"kubehenge.dev/bootstrap"
	"kubehenge.dev/lab"
	"kubehenge.dev/render"
)

// Claims that the checks refuse never run, so that nothing could be measured.
func TestTheCrowdsClaimsPassAllChecks(t *testing.T) {
	var addresses lab.Addresses
	platform, err := addresses.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	files, err := bootstrap.RepositoryFiles(bootstrap.Options{Fleet: platform})
	if err != nil {
		t.Fatal(err)
	}
	const clusters = 20
	maps.Copy(files, crowdFiles(0, clusters, addresses.Endpoint))
	rendering, err := render.New().Render(t.Context(), render.Memory(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rendering.Problems() {
		t.Error(p)
	}
	if got := len(rendering.Overlays); got != clusters {
		t.Errorf("%d overlays, want %d", got, clusters)
	}
}
