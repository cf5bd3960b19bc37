// Package process answers: how does a lab keep its child processes running, and leave none behind?
//
// Each child leads a process group of its own, writes to a log file of limited size, is started again with a
// growing delay when it ends, and is killed by the kernel when the lab ends in whatever way, SIGKILL included.
package process
