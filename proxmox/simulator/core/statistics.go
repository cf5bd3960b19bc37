package core

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

	Status string    `json:"-"`
	at     time.Time `json:"-"`
}

// GuestRow is a guest in /cluster/resources and among a pool's members.
type GuestRow struct {
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

// GuestRow is a guest as the cluster knows it.
func (s *State) GuestRow(g *Guest) *GuestRow {
	r := &GuestRow{ID: g.Kind + "/" + Itoa(g.VMID), Type: g.Kind, VMID: g.VMID, Node: g.Node, Status: "unknown", statistics: s.known(g)}
	if r.statistics != nil {
		r.Status = r.statistics.Status
	}
	return r
}

// known is what the cluster knows about a guest: nothing if its node has been silent for too long.
func (s *State) known(g *Guest) *statistics {
	if s.Profile.Statistics == 0 && s.Nodes[g.Node].Online {
		return s.Measure(g)
	}
	if g.heard == nil || s.Now().Sub(g.heard.at) > Expiry {
		return nil
	}
	return g.heard
}

// Broadcast lets all nodes that are on tell about their guests.
func (s *State) Broadcast() {
	for _, g := range s.Guests {
		if s.Nodes[g.Node].Online {
			g.heard = s.Measure(g)
		}
	}
}

// Measure takes the statistics of a guest now. The figures of the load are made up.
func (s *State) Measure(g *Guest) *statistics {
	st := &statistics{
		Name: g.ShownName(), Template: Bit(g.Template()), MaxCPU: float64(s.CPUsOf(g)), MaxMem: g.Memory(), MaxDisk: s.BootDiskSize(g),
		Status: g.Status(), at: s.Now(),
	}
	host := int64(0)
	if g.State != Stopped {
		st.CPU, st.Mem, st.Uptime = 0.02, st.MaxMem/3, s.uptime(g)
		st.NetIn, st.NetOut, st.DiskRead, st.DiskWrite = st.Uptime*700, st.Uptime*300, 1<<28, st.Uptime*4096
		host = st.Mem + 1<<26
	}
	if s.Version == "9.2" {
		st.MemHost = &host
	}
	return st
}

func (s *State) uptime(g *Guest) int64 {
	if g.State == Stopped {
		return 0
	}
	return int64(s.Now().Sub(g.Started) / time.Second)
}

// tell lets whoever waits for the background look again.
func (s *State) tell() {
	select {
	case s.Done <- struct{}{}:
	default: // told already
	}
}

// Every calls a function in such intervals until the server closes, with the lock held; never if the interval is 0.
func (s *State) Every(d time.Duration, f func()) {
	if d <= 0 {
		return
	}
	ticker := s.Clock.NewTicker(d)
	s.Workers.Add(1)
	go func() {
		defer s.Workers.Done()
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C():
				s.Mu.Lock()
				f()
				s.Mu.Unlock()
				s.tell()
			case <-s.Context.Done():
				return
			}
		}
	}()
}
