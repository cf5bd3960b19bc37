package simulator

import (
	"net/http"

	"kubehenge.dev/proxmox/simulator/wire"
)

func (s *Server) servePage(_ *http.Request, path string) wire.Response {
	return wire.Response{Status: 404, Reason: "Not Found"}
}
