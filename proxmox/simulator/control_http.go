package simulator

import (
	"io"
	"net/http"

	"sigs.k8s.io/yaml"

	"kubehenge.dev/proxmox/simulator/wire"
)

// controlPrefix is where the simulator's own controls are, beside the API: for the command line. They ask for a header
// that a web page of another origin cannot send.
const (
	controlPrefix = "/simulator/"
	controlHeader = "X-Simulator-Control"
)

// serveControl answers
//
//	GET inventory                      the present state as YAML
//	GET, POST, DELETE faults           the faults that are in force; add those of a scenario; take all away
//	POST effects                       let something happen to the cluster now, an effect a line
func (s *Server) serveControl(r *http.Request, path string) wire.Response {
	if r.Header.Get(controlHeader) == "" {
		return wire.Response{Status: 403, Reason: "the header " + controlHeader + " is missing"}
	}
	var answer any
	var err error
	switch {
	case r.Method == http.MethodGet && path == "inventory":
		answer = s.Save()
	case r.Method == http.MethodGet && path == "faults":
		answer = Scenario{Faults: s.faults.Active()}
	case r.Method == http.MethodPost && path == "faults":
		err = s.addScenario(r.Body)
	case r.Method == http.MethodDelete && path == "faults":
		s.ClearFaults()
	case r.Method == http.MethodPost && path == "effects":
		err = s.applyAll(r.Body)
	default:
		return wire.Response{Status: 404, Reason: "Not Found"}
	}
	if err != nil {
		return wire.Response{Status: 400, Reason: "Bad Request", Body: []byte(err.Error() + "\n")}
	}
	data, err := yaml.Marshal(answer)
	if err != nil {
		return wire.Response{Status: 500, Reason: "Internal Server Error"}
	}
	return wire.Response{Status: 200, Reason: "OK", Body: data, Header: [][2]string{{"Content-Type", "application/yaml"}}}
}

func (s *Server) addScenario(body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err != nil {
		return err
	}
	sc, err := ParseScenario(data)
	if err != nil {
		return err
	}
	for _, f := range sc.Faults {
		s.AddFault(f)
	}
	return nil
}
