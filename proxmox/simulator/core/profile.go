package core

import "time"

// Profile says how long things take, by the simulator's clock.
type Profile struct {
	Name string
	// Tasks gives the duration of a task by its type (qmclone, qmstart, ...); Task is that of all others.
	Tasks map[string]time.Duration
	Task  time.Duration
	// LoginDelay is how long a refused sign-in or ticket waits for its answer; 3 s in Proxmox VE.
	LoginDelay time.Duration
	// Statistics is how often nodes tell each other about their guests: /cluster/resources lags that much.
	// Zero: it is always fresh. About 10 s in Proxmox VE.
	Statistics time.Duration
	// ManagerCycle is the HA manager's cycle, FenceDelay how long a node must be gone before its guests are moved.
	ManagerCycle, FenceDelay time.Duration
	// TimeoutScale is the part of a time-out, such as that of a shutdown that nobody follows, which is really waited.
	TimeoutScale float64
	// Unreachable is how long a call to a node that is off waits for its 595.
	Unreachable time.Duration
}

// Instant lets every task end before its call is answered: for tests.
func Instant() Profile { return Profile{Name: "instant"} }

// Brisk lets tasks end before their call is answered, while the cluster's own clockwork goes at its usual pace: for
// replaying what was recorded.
func Brisk() Profile {
	p := Lifelike()
	p.Name, p.Task, p.Tasks, p.LoginDelay, p.Statistics, p.Unreachable = "brisk", 0, nil, 0, 0, 0
	return p
}

// Lifelike takes about as long as a small cluster with local SSDs: for demonstrations.
func Lifelike() Profile {
	return Profile{
		Name: "lifelike",
		Task: time.Second,
		Tasks: map[string]time.Duration{
			"qmclone": 6 * time.Second, "qmcreate": 2 * time.Second, "qmstart": 2 * time.Second, "qmstop": time.Second,
			"qmshutdown": 4 * time.Second, "qmdestroy": 2 * time.Second, "qmconfig": 300 * time.Millisecond,
			"resize": 500 * time.Millisecond, "qmigrate": 8 * time.Second, "imgcopy": 300 * time.Millisecond, "imgdel": 200 * time.Millisecond,
		},
		LoginDelay: 3 * time.Second, Statistics: 10 * time.Second, ManagerCycle: 10 * time.Second, FenceDelay: time.Minute, TimeoutScale: 1,
		Unreachable: 3 * time.Second,
	}
}

func (p Profile) task(kind string) time.Duration {
	if d, ok := p.Tasks[kind]; ok {
		return d
	}
	return p.Task
}

// Timeout is a time-out as this profile takes it.
func (s *State) Timeout(seconds int) time.Duration {
	return time.Duration(float64(seconds) * s.Profile.TimeoutScale * float64(time.Second))
}
