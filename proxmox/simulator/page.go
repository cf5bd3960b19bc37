package simulator

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/wire"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// pageData is what the page shows.
type pageData struct {
	Cluster, Version string
	Quorate          bool
	Nodes            []pageNode
	Pools            []Pool
	Tasks            []pageTask
	Calls            int
}

type pageNode struct {
	Name, Address string
	Online        bool
	Guests        []pageGuest
}

type pageGuest struct {
	VMID              int
	Name, State, Pool string
	Template          bool
	Lock, Tags        string
	Cores             int
	MemoryMiB         int64
}

type pageTask struct {
	Time, Node, Type, ID, User, Status string
	Running, Failed                    bool
}

// servePage answers what is not the API: a page to look at, and the simulator's own controls.
func (s *Server) servePage(r *http.Request, path string) wire.Response {
	if strings.HasPrefix(path, controlPrefix) {
		return s.serveControl(r, strings.TrimPrefix(path, controlPrefix))
	}
	if r.Method != http.MethodGet || path != "/" {
		return wire.Response{Status: 404, Reason: "Not Found"}
	}
	var b bytes.Buffer
	if err := page.Execute(&b, s.pageData()); err != nil {
		return wire.Response{Status: 500, Reason: "page"}
	}
	return wire.Response{Status: 200, Reason: "OK", Body: b.Bytes(), Header: [][2]string{
		{"Content-Type", "text/html;charset=UTF-8"},
		{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
		{"X-Content-Type-Options", "nosniff"},
	}}
}

func (s *Server) pageData() pageData {
	s.callMu.Lock()
	calls := len(s.calls)
	s.callMu.Unlock()
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	d := pageData{Cluster: core.Or(s.state.Cluster, s.state.Local), Version: core.Releases[string(s.state.Version)].Version, Quorate: s.state.Quorate(), Calls: calls}
	for _, name := range s.state.NodeNames() {
		n := pageNode{Name: name, Address: s.state.Nodes[name].Address, Online: s.state.Nodes[name].Online}
		for _, vmid := range s.state.VMIDs() {
			if g := s.state.Guests[vmid]; g.Node == name {
				n.Guests = append(n.Guests, pageGuest{VMID: vmid, Name: g.ShownName(), State: g.State, Pool: s.state.ACL.PoolOf(vmid), Template: g.Template(),
					Lock: g.Lock(), Tags: g.Conf["tags"], Cores: g.CPUs(), MemoryMiB: g.Memory() >> 20})
			}
		}
		d.Nodes = append(d.Nodes, n)
	}
	for _, id := range core.SortedKeys(s.state.ACL.Pools) {
		p := s.state.ACL.Pools[id]
		d.Pools = append(d.Pools, Pool{ID: id, Comment: p.Comment, VMs: core.SortedKeys(p.VMs)})
	}
	for _, t := range slices.Backward(s.state.Tasks) {
		if len(d.Tasks) == 30 {
			break
		}
		row := pageTask{Time: t.Started.Format("15:04:05"), Node: t.Node, Type: t.Kind, ID: t.ID, User: t.Owner(), Status: t.Exit, Running: t.Ended.IsZero()}
		row.Failed = !row.Running && t.Exit != "OK"
		d.Tasks = append(d.Tasks, row)
	}
	return d
}
