package real

import "context"

// Started says that a machine of the cluster is on again: its programs go on with the data on its disk. It does not wait
// for them, since etcd may need other machines first.
func (c *Cluster) Started(_ context.Context, node string) error {
	m := c.member(node)
	if m == nil {
		return nil
	}
	if m.node.ControlPlane {
		m.run(etcd, m.etcdArgs(m.node.Name+"="+m.peerURL(), "existing"))
		m.run(apiServer, m.apiServerArgs())
		m.setServes(true)
	}
	return m.startKubelet()
}

// Stopped says that a machine has been switched off: all that ran in it is gone.
func (c *Cluster) Stopped(_ context.Context, node string) error {
	if m := c.member(node); m != nil {
		m.powerOff()
		c.nudge()
	}
	return nil
}

// Destroyed says that a machine is gone for good, with its disk. With the last machine of the control plane the cluster
// goes; the node object stays until somebody deletes it, as in a cluster without a cloud controller.
func (c *Cluster) Destroyed(_ context.Context, node string) error {
	m := c.member(node)
	if m == nil {
		return nil
	}
	c.dismiss(m)
	m.destroy()
	if len(c.controlPlane()) == 0 {
		c.registry.remove(c)
		return nil
	}
	c.nudge()
	return nil
}
