package simulator

import "time"

// statistics is what a node tells the others about a guest, every ten seconds or so.
type statistics struct {
	Name      string  `json:"name"`
	Template  int     `json:"template"`
	MaxCPU    float64 `json:"maxcpu"`
	CPU       float64 `json:"cpu"`
	MaxMem    int64   `json:"maxmem"`
	Mem       int64   `json:"mem"`
	MemHost   *int64  `json:"memhost,omitempty"` // 9.x
	MaxDisk   int64   `json:"maxdisk"`
	Disk      int64   `json:"disk"`
	Uptime    int64   `json:"uptime"`
	NetIn     int64   `json:"netin"`
	NetOut    int64   `json:"netout"`
	DiskRead  int64   `json:"diskread"`
	DiskWrite int64   `json:"diskwrite"`

	status string    `json:"-"`
	at     time.Time `json:"-"`
}

// guestRow is a guest in /cluster/resources and among a pool's members.
type guestRow struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	VMID    int    `json:"vmid"`
	Node    string `json:"node"`
	Status  string `json:"status"`
	Tags    string `json:"tags,omitempty"`
	Lock    string `json:"lock,omitempty"`
	Pool    string `json:"pool,omitempty"`
	HAState string `json:"hastate,omitempty"`
	*statistics
}

func (s *state) guestRow(g *guest) *guestRow {
	r := &guestRow{ID: g.kind + "/" + itoa(g.vmid), Type: g.kind, VMID: g.vmid, Node: g.node, Status: "unknown", statistics: s.known(g)}
	if r.statistics != nil {
		r.Status = r.status
	}
	return r
}

// known is what the cluster knows about a guest: nothing if its node has been silent for too long.
func (s *state) known(g *guest) *statistics {
	if s.profile.Statistics == 0 && s.nodes[g.node].online {
		return s.measure(g)
	}
	if g.heard == nil || s.now().Sub(g.heard.at) > expiry {
		return nil
	}
	return g.heard
}

// broadcast lets all nodes that are on tell about their guests.
func (s *state) broadcast() {
	for _, g := range s.guests {
		if s.nodes[g.node].online {
			g.heard = s.measure(g)
		}
	}
}

// measure takes the statistics of a guest now. The figures of the load are made up.
func (s *state) measure(g *guest) *statistics {
	st := &statistics{
		Name: g.shownName(), Template: bit(g.template()), MaxCPU: float64(s.cpusOf(g)), MaxMem: g.memory(), MaxDisk: s.bootDiskSize(g),
		status: g.status(), at: s.now(),
	}
	host := int64(0)
	if g.state != stopped {
		st.CPU, st.Mem, st.Uptime = 0.02, st.MaxMem/3, s.uptime(g)
		st.NetIn, st.NetOut, st.DiskRead, st.DiskWrite = st.Uptime*700, st.Uptime*300, 1<<28, st.Uptime*4096
		host = st.Mem + 1<<26
	}
	if s.version == "9.2" {
		st.MemHost = &host
	}
	return st
}

func (s *state) uptime(g *guest) int64 {
	if g.state == stopped {
		return 0
	}
	return int64(s.now().Sub(g.started) / time.Second)
}

// tell lets whoever waits for the background look again.
func (s *state) tell() {
	select {
	case s.done <- struct{}{}:
	default: // told already
	}
}

func (s *state) every(d time.Duration, f func()) {
	if d <= 0 {
		return
	}
	ticker := s.clock.NewTicker(d)
	s.workers.Add(1)
	go func() {
		defer s.workers.Done()
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C():
				s.mu.Lock()
				f()
				s.mu.Unlock()
				s.tell()
			case <-s.ctx.Done():
				return
			}
		}
	}()
}
