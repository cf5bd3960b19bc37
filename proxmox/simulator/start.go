package simulator

import (
	"testing"
)

// Start runs a simulator on 127.0.0.1 for the length of a test: three nodes with shared storage and templates (the
// inventory "lab"), tasks that end at once. Options change that.
func Start(t testing.TB, change ...func(*Options)) *Server {
	t.Helper()
	o := Options{Profile: Instant()}
	for _, f := range change {
		f(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatalf("simulated Proxmox VE: %v", err)
	}
	if err := s.Listen("127.0.0.1:0"); err != nil {
		t.Fatalf("simulated Proxmox VE: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}
