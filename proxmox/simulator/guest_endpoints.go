package simulator

// guestArea are the calls that machines and containers have alike.
func guestArea() []*Endpoint {
	return snapshotEndpoints()
}
