package simulator

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"strings"

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
	s.mu.Lock()
	defer s.mu.Unlock()
	d := pageData{Cluster: or(s.cluster, s.local), Version: releases[string(s.version)].version, Quorate: s.quorate(), Calls: calls}
	for _, name := range s.nodeNames() {
		n := pageNode{Name: name, Address: s.nodes[name].address, Online: s.nodes[name].online}
		for _, vmid := range s.vmids() {
			if g := s.guests[vmid]; g.node == name {
				n.Guests = append(n.Guests, pageGuest{VMID: vmid, Name: g.shownName(), State: g.state, Pool: s.acl.PoolOf(vmid), Template: g.template(),
					Lock: g.lock(), Tags: g.conf["tags"], Cores: g.cpus(), MemoryMiB: g.memory() >> 20})
			}
		}
		d.Nodes = append(d.Nodes, n)
	}
	for _, id := range sortedKeys(s.acl.Pools) {
		p := s.acl.Pools[id]
		d.Pools = append(d.Pools, Pool{ID: id, Comment: p.Comment, VMs: sortedKeys(p.VMs)})
	}
	for _, t := range slices.Backward(s.tasks) {
		if len(d.Tasks) == 30 {
			break
		}
		row := pageTask{Time: t.started.Format("15:04:05"), Node: t.node, Type: t.kind, ID: t.id, User: t.owner(), Status: t.exit, Running: t.ended.IsZero()}
		row.Failed = !row.Running && t.exit != "OK"
		d.Tasks = append(d.Tasks, row)
	}
	return d
}
