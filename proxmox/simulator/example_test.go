package simulator_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// A simulator serves the API like a real Proxmox VE: here the agent's token may make a pool below its own and no other.
func Example() {
	pve, err := simulator.New(simulator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pve.Close()
	if err := pve.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pve.CA())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	secret, _ := pve.TokenSecret(access.AgentToken)

	for _, pool := range []string{"kubehenge/team-a.shop", "elsewhere"} {
		req, _ := http.NewRequest(http.MethodPost, pve.URL()+"/pools?poolid="+pool, nil)
		req.Header.Set("Authorization", "PVEAPIToken="+access.AgentToken+"="+secret)
		resp, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = resp.Body.Close()
		fmt.Println(resp.Status)
	}
	for _, pool := range pve.Snapshot().Pools {
		fmt.Println(pool.ID)
	}
	// Output:
	// 200 OK
	// 403 Permission check failed (/pool/elsewhere, Pool.Allocate)
	// kubehenge
	// kubehenge-templates
	// kubehenge/team-a.shop
}
