package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/lab/guests/api"
	"kubehenge.dev/lab/guests/vm"
)

// stub answers every call with what the test says.
type stub struct {
	result any
	err    error
	got    vm.Guest
}

func (s *stub) Start(_ context.Context, g vm.Guest) error   { s.got = g; return s.err }
func (s *stub) Stop(_ context.Context, g vm.Guest) error    { s.got = g; return s.err }
func (s *stub) Destroy(_ context.Context, g vm.Guest) error { s.got = g; return s.err }
func (s *stub) Agent(_ context.Context, g vm.Guest, _ string, _ map[string]any) (any, error) {
	s.got = g
	return s.result, s.err
}
func (s *stub) Report() []vm.Report { return []vm.Report{{VMID: 1, Name: "a"}} }

func TestAnswers(t *testing.T) {
	const body = `{"guest":{"vmid":100,"name":"a","node":"pve1","uuid":"u","macs":["m"],"cores":2,"memoryMiB":4,"tags":["t"],"version":"v1","iso":"AQI="},"command":"ping"}`
	refused := &vm.AgentError{Class: "GenericError", Desc: "no"}
	cases := map[string]struct {
		method, path, body string
		stub               stub
		status             int
		answer             string
	}{
		"a machine is started":        {"POST", "/v1/start", body, stub{}, 200, `{}`},
		"a machine is stopped":        {"POST", "/v1/stop", body, stub{}, 200, `{}`},
		"a machine is destroyed":      {"POST", "/v1/destroy", body, stub{}, 200, `{}`},
		"a machine cannot be started": {"POST", "/v1/start", body, stub{err: errors.New("why")}, 500, `{"error":{"class":"GenericError","desc":"why"}}`},
		"the agent answers":           {"POST", "/v1/agent", body, stub{result: map[string]int{"pid": 7}}, 200, `{"result":{"pid":7}}`},
		"no agent runs":               {"POST", "/v1/agent", body, stub{err: vm.ErrAgentNotRunning}, 409, `{"error":{"class":"AgentNotRunning","desc":"guest agent is not running"}}`},
		"the agent refuses":           {"POST", "/v1/agent", body, stub{err: refused}, 422, `{"error":{"class":"GenericError","desc":"no"}}`},
		"something else is wrong":     {"POST", "/v1/agent", body, stub{err: errors.New("why")}, 500, `{"error":{"class":"GenericError","desc":"why"}}`},
		"machines are listed":         {"GET", "/v1/machines", "", stub{}, 200, `{"machines":[{"vmid":1,"name":"a","running":false,"agent":false}]}`},
		"broken JSON":                 {"POST", "/v1/start", "{", stub{}, 400, `{"error":{"class":"GenericError","desc":"decode request: unexpected EOF"}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			api.Handler(&c.stub).ServeHTTP(recorder, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
			if recorder.Code != c.status || strings.TrimSpace(recorder.Body.String()) != c.answer {
				t.Errorf("status %d, %s, want %d, %s", recorder.Code, recorder.Body, c.status, c.answer)
			}
			want := vm.Guest{
				VMID: 100, Name: "a", Node: "pve1", UUID: "u", MACs: []string{"m"}, Cores: 2, MemoryMiB: 4,
				Tags: []string{"t"}, Version: "v1", ISO: []byte{1, 2},
			}
			if c.body == body {
				if diff := cmp.Diff(want, c.stub.got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	recorder := httptest.NewRecorder()
	api.Handler(&stub{}).ServeHTTP(recorder, httptest.NewRequest("GET", "/v1/start", nil))
	if recorder.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET of a verb: status %d, want 405", recorder.Code)
	}
}
