package corner

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// outOfPool takes a VM out of every pool, which the client has no call for.
func (w *world) outOfPool(vmid int) error {
	return w.rootCall(w.t.Context(), http.MethodPut, "/pools", map[string]any{"poolid": shopPool, "vms": fmt.Sprint(vmid), "delete": 1})
}

// rootCall is a call of the administrator's with a ticket.
func (w *world) rootCall(ctx context.Context, method, path string, params map[string]any) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.pve.CA())
	httpc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	ask := func(method, path string, params map[string]any, header http.Header) (map[string]any, error) {
		body, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, method, w.pve.URL()+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = header
		req.Header.Set("Content-Type", "application/json")
		res, err := httpc.Do(req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s %s: %s", method, path, res.Status)
		}
		var answer struct {
			Data map[string]any `json:"data"`
		}
		err = json.Unmarshal(text, &answer)
		return answer.Data, err
	}
	ticket, err := ask(http.MethodPost, "/access/ticket", map[string]any{"username": "root@pam", "password": "kubehenge"}, http.Header{})
	if err != nil {
		return err
	}
	_, err = ask(method, path, params, http.Header{
		"Cookie": {"PVEAuthCookie=" + fmt.Sprint(ticket["ticket"])}, "CSRFPreventionToken": {fmt.Sprint(ticket["CSRFPreventionToken"])},
	})
	return err
}
