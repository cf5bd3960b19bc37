package simulator

import (
	"io"
	"net/http"
	"strings"

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
//	POST nodes/NAME/on, nodes/NAME/off switch a node
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
		answer = Scenario{Faults: s.activeFaults()}
	case r.Method == http.MethodPost && path == "faults":
		err = s.addScenario(r.Body)
	case r.Method == http.MethodDelete && path == "faults":
		s.ClearFaults()
	case r.Method == http.MethodPost && strings.HasPrefix(path, "nodes/"):
		name, state, _ := strings.Cut(strings.TrimPrefix(path, "nodes/"), "/")
		err = s.SetNodeOnline(name, state == "on")
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

// Scenario is a list of faults as a YAML file holds it.
type Scenario struct {
	Faults []Fault `json:"faults"`
}

// ParseScenario reads faults from YAML; unknown fields are errors. Times are RFC 3339, durations like 30s.
func ParseScenario(data []byte) (*Scenario, error) {
	sc := &Scenario{}
	if err := yaml.UnmarshalStrict(data, sc); err != nil {
		return nil, fail("parse scenario: %w", err)
	}
	for _, f := range sc.Faults {
		if _, err := newRule(f); err != nil {
			return nil, fail("parse scenario: %w", err)
		}
	}
	return sc, nil
}

func (sc *Scenario) yaml() ([]byte, error) { return yaml.Marshal(sc) }

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

func (s *Server) activeFaults() []Fault {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	var list []Fault
	for _, r := range s.faults {
		if !r.ended {
			list = append(list, r.Fault)
		}
	}
	return list
}
