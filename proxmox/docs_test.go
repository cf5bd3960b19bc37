package proxmox_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/access"
)

// TestTheManualGrantsWhatIsNeeded compares the commands of docs/proxmox.md with the table they are made from.
func TestTheManualGrantsWhatIsNeeded(t *testing.T) {
	raw, err := os.ReadFile("../docs/proxmox.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := regexp.MustCompile(` +`).ReplaceAllString(string(raw), " ")
	place := access.Place{WorkloadPool: "kubehenge", TemplatePool: "kubehenge-templates", Disks: []string{"shared"}, ISO: "kubehenge-iso", Bridges: []string{"localnetwork/vmbr0"}}
	lines := 0
	expect := func(line string) {
		lines++
		if !strings.Contains(manual, line+"\n") {
			t.Errorf("docs/proxmox.md lacks the line: %s", line)
		}
	}
	for _, g := range access.Grants {
		expect(fmt.Sprintf("pveum role add %s --privs %q", g.Role, strings.Join(g.Privileges(access.V9), " ")))
		for _, path := range g.Paths(place) {
			who := map[string]string{access.ProviderToken: "provider", access.AgentToken: "agent"}[g.Token]
			suffix := map[bool]string{true: "", false: " 0"}[g.Propagate]
			expect(who + " " + g.Role + " " + path + suffix)
		}
	}
	commands := regexp.MustCompile(`(?m)^(pveum role add|provider Kube|agent Kube)`).FindAllString(manual, -1)
	if len(commands) != lines {
		t.Errorf("docs/proxmox.md has %d commands for roles and their paths; %d are needed", len(commands), lines)
	}
}
