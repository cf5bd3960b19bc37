package volumes

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"

	pve "github.com/luthermonson/go-proxmox"
)

// switchStorage switches a storage off, or on, as an administrator does; Kubehenge's own client has no call for it.
func (w *world) switchStorage(name string, on bool) {
	w.t.Helper()
	secret, _ := w.pve.TokenSecret("root@pam!tk")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.pve.CA())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	api := pve.NewClient(w.pve.URL(), pve.WithHTTPClient(client), pve.WithAPIToken("root@pam!tk", secret))
	off := map[bool]int{true: 0, false: 1}[on]
	if err := api.Put(w.ctx, "/storage/"+name, map[string]any{"disable": off}, new(any)); err != nil {
		w.t.Fatal(err)
	}
}
