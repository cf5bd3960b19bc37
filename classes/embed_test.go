package classes_test

import (
	"testing"

	"kubehenge.dev/classes"
)

// Every folder that is carried is written into new repositories.
func TestOnlyClassesAreCarried(t *testing.T) {
	entries, err := classes.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("no class is carried")
	}
	for _, e := range entries {
		if _, err := classes.Files.ReadFile(e.Name() + "/class.yaml"); err != nil {
			t.Errorf("%s is carried and is no class: %v", e.Name(), err)
		}
	}
}
