// Package recordings holds exchanges with a real Proxmox VE as data, and the test that replays them against the simulator: where
// the two differ, the simulator is wrong. See testdata/README.md.
package recordings
