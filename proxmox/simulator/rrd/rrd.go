// Package rrd makes up the history of figures that Proxmox VE keeps in round-robin databases: always the same for the same
// thing and time, and never the same for two. Source of the steps: pve-cluster src/PVE/RRD.pm.
package rrd

import (
	"hash/fnv"
	"math"
	"strconv"
	"time"
)

// frame is how many values a span of time has, and how far apart they are in seconds.
type frame struct{ step, count int64 }

var frames = map[string]frame{
	"hour": {60, 70}, "day": {60 * 30, 70}, "week": {60 * 180, 70}, "month": {60 * 720, 70}, "year": {60 * 10080, 70}, "decade": {60 * 10080, 520},
}

// Times are the moments of a span (hour, day, week, month, year or decade) up to now, in seconds since 1970.
func Times(span string, now time.Time) []int64 {
	f, known := frames[span]
	if !known {
		return nil
	}
	end := now.Unix() / f.step * f.step
	var times []int64
	for i := f.count; i > 0; i-- {
		times = append(times, end-i*f.step)
	}
	return times
}

// Wave is a figure between 0 and 1 at a moment: it rises by day and falls by night, with some noise of its own.
func Wave(seed string, at int64) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed + strconv.FormatInt(at/60, 10))) // never fails
	noise := float64(h.Sum64()%1000) / 1000
	day := 0.5 - 0.5*math.Cos(2*math.Pi*float64(at%86400)/86400)
	return math.Round((0.6*day+0.4*noise)*1e4) / 1e4
}
