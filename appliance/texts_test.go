package appliance

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render/told"
)

// sentences is the page's file of what this program says in English. The compiler and a test of the page hold other languages to its codes and parameters.
const sentences = "web/src/i18n/en/server.ts"

func TestThePageKnowsEverySentenceOfTheServer(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("import type { Section } from \"../texts\";\n\n/** What the server says, by code. Made by UPDATE_GOLDEN=1 go test ./appliance -run EverySentence. */\nexport default {\n")
	texts := told.All()
	for _, code := range slices.Sorted(maps.Keys(texts)) {
		if text := texts[code]; text.One == "" {
			fmt.Fprintf(&b, "  %q: %q,\n", code, text.Other)
		} else {
			fmt.Fprintf(&b, "  %q: { one: %q, other: %q },\n", code, text.One, text.Other)
		}
	}
	b.WriteString("} as const satisfies Section;\n")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(sentences, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(sentences)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(content), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the server says something else now; UPDATE_GOLDEN=1 go test ./appliance -run EverySentence writes it down:\n%s", diff)
	}
}
