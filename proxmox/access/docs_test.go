package access_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/access"
)

const page = "../../docs/security.md"

// TestTheSecurityPageSaysWhatIsTrue compares the page's tables with those that everything is made from, and its lists
// with what the tests try.
func TestTheSecurityPageSaysWhatIsTrue(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	for name, text := range map[string]string{
		"made from proxmox/access by UPDATE_GOLDEN=1 go test ./proxmox/access": table(),
		"can": sentences(stolenTokenCan), "cannot": sentences(clusterMayNot),
	} {
		want = between(t, want, "<!-- begin: "+name+" -->\n", "<!-- end -->", text)
	}
	if want == string(raw) {
		return
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		t.Fatal("docs/security.md is not what the tables say: run UPDATE_GOLDEN=1 go test ./proxmox/access")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func between(t *testing.T, page, begin, end, text string) string {
	t.Helper()
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/security.md lacks %q", begin)
	}
	return before + begin + text + end + after
}

func sentences(list attempts) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(list)) {
		fmt.Fprintf(&b, "- %s\n", name)
	}
	return b.String()
}

// table is a table for each token.
func table() string {
	shown := place
	shown.ClusterPool = "kubehenge/<namespace>.<cluster>"
	var b strings.Builder
	for _, i := range access.Identities(shown) {
		fmt.Fprintf(&b, "### `%s`\n\n%s.\n\n", i.Token, strings.TrimPrefix(i.Comment, "Kubehenge: "))
		rows(&b, slices.DeleteFunc(access.For(shown), func(g access.Grant) bool { return g.Token != i.Token }), shown)
	}
	fmt.Fprintf(&b, "### `kh-<namespace>.<cluster>@pve!cluster`, one for each cluster\n\n")
	fmt.Fprintf(&b, "Made by the agent. The user has `%s` through the group `%s`.\n\n", access.SharedRole, access.ClustersGroup)
	rows(&b, access.Clusters, shown)
	return b.String()
}

func rows(b *strings.Builder, grants []access.Grant, shown access.Place) {
	b.WriteString("| path | role | privilege | fails without it | what for |\n|---|---|---|---|---|\n")
	for _, g := range grants {
		path := "`" + strings.Join(g.Paths(shown), "`, `") + "`"
		if !g.Propagate {
			path += ", not below"
		}
		role := "`" + g.Role + "`"
		for _, n := range g.Needs {
			fmt.Fprintf(b, "| %s | %s | `%s` | `%s` | %s |\n", path, role, n.Privilege, n.Call, n.Why)
			path, role = "", ""
		}
	}
	b.WriteString("\n")
}
