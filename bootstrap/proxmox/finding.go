package proxmox

import "fmt"

// Kind says what is the matter.
type Kind string

// The kinds of findings.
const (
	// Missing is what has to be there.
	Missing Kind = "Missing"
	// Surplus is what gives more than is needed.
	Surplus Kind = "Surplus"
	// Wrong is what will not work.
	Wrong Kind = "Wrong"
)

// Finding is one thing that is not as it should be.
type Finding struct {
	// Check is the name of the check.
	Check string `json:"check"`
	// Kind is Missing, Surplus or Wrong.
	Kind Kind `json:"kind"`
	// What is one sentence.
	What string `json:"what"`
	// Help is what to do; empty where kubehenge proxmox prepare does it.
	Help string `json:"help,omitempty"`
}

// findings collects them.
type findings struct {
	check string
	list  []Finding
}

func (f *findings) add(kind Kind, help, format string, args ...any) {
	f.list = append(f.list, Finding{Check: f.check, Kind: kind, What: fmt.Sprintf(format, args...), Help: help})
}

// missing is what prepare makes.
func (f *findings) missing(format string, args ...any) { f.add(Missing, "", format, args...) }

func (f *findings) surplus(help, format string, args ...any) { f.add(Surplus, help, format, args...) }

func (f *findings) wrong(help, format string, args ...any) { f.add(Wrong, help, format, args...) }
