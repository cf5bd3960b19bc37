package capmox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/lab/capmox"
)

func TestCredentialsComeFromTheEnvironmentAsCapmoxs(t *testing.T) {
	for name, c := range map[string]struct {
		given       capmox.Options
		environment map[string]string
		want        capmox.Options
	}{
		"nothing: each cluster brings its own, unverified": {
			environment: map[string]string{}, want: capmox.Options{ProxmoxInsecure: true},
		},
		"all of it": {
			environment: map[string]string{"PROXMOX_URL": "u", "PROXMOX_TOKEN": "t", "PROXMOX_SECRET": "s"},
			want:        capmox.Options{ProxmoxURL: "u", ProxmoxToken: "t", ProxmoxSecret: "s", ProxmoxInsecure: true},
		},
		"certificates to trust mean that they are looked at": {
			given: capmox.Options{ProxmoxRoots: "ca.crt"}, environment: map[string]string{}, want: capmox.Options{ProxmoxRoots: "ca.crt"},
		},
		"unless told otherwise": {
			given: capmox.Options{ProxmoxRoots: "ca.crt"}, environment: map[string]string{"PROXMOX_INSECURE": "true"},
			want: capmox.Options{ProxmoxRoots: "ca.crt", ProxmoxInsecure: true},
		},
		"told to verify": {
			environment: map[string]string{"PROXMOX_INSECURE": "false"}, want: capmox.Options{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.given.FromEnvironment(func(k string) string { return c.environment[k] })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
