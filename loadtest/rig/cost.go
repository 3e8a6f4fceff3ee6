package rig

import (
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// ResidentBytes is a process's resident memory in bytes, 0 when it can't be read.
func ResidentBytes(pid int) int64 {
	if stat, ok := readStat(pid); ok {
		return int64(stat.ResidentMemory())
	}
	return 0
}

// clockTick is one unit of utime and stime. The kernel's USER_HZ is 100 on every
// architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// Target is something whose CPU is sampled: a process, or a process and all its
// descendants.
type Target struct {
	Name string
	// PID is asked at each sample, because a process may be restarted under
	// another number; 0 means not running.
	PID  func() int
	Tree bool
}

// FixedPID returns the PID of a process that is not started again.
func FixedPID(pid int) func() int { return func() int { return pid } }

// Second is what was used in one second.
type Second struct {
	CPU   []float64 // what each target used, in cores: 1 means that one core was busy
	Steal float64   // the share of all cores' time that the hypervisor took, from 0 to 1
}

// Usage is what a Sampler saw.
type Usage struct {
	Names   []string
	Seconds []Second
	Total   []time.Duration // the CPU time that each target used
	Steal   float64         // the share of the whole time that the hypervisor took
	Others  float64         // how many cores all other processes kept busy, on average
}

// Sampler samples until it is stopped.
type Sampler struct {
	targets []Target
	stop    chan struct{}
	once    sync.Once
	done    chan struct{}
	usage   Usage

	last []time.Duration // the CPU time that each target had used at the last sample
	// The process that was read last for each target. Another number means that the counters have begun at 0 again.
	lastPID   []int
	lastAt    time.Time
	lastTimes cpuTimes
	first     cpuTimes
	began     time.Time
}

// StartSampler begins to sample.
func StartSampler(targets ...Target) *Sampler {
	s := &Sampler{
		targets: targets, stop: make(chan struct{}), done: make(chan struct{}),
		last: make([]time.Duration, len(targets)), lastPID: make([]int, len(targets)),
	}
	s.usage.Total = make([]time.Duration, len(targets))
	for _, t := range targets {
		s.usage.Names = append(s.usage.Names, t.Name)
	}
	s.lastAt, s.lastTimes = time.Now(), readCPUTimes()
	s.began, s.first = s.lastAt, s.lastTimes
	for i, t := range targets {
		s.lastPID[i] = t.PID()
		s.last[i] = t.cpu(s.lastPID[i])
	}
	go s.run()
	return s
}

// Stop ends the sampling and returns what was seen, up to now.
func (s *Sampler) Stop() Usage {
	s.once.Do(func() { close(s.stop) })
	<-s.done
	return s.usage
}

// run takes a sample each second, and one at the end.
func (s *Sampler) run() {
	defer close(s.done)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.sample()
		case <-s.stop:
			s.sample()
			s.usage.Steal = s.lastTimes.stolenSince(s.first)
			s.usage.Others = s.others()
			return
		}
	}
}

// others returns how many cores the machine's other processes kept busy on average, over the whole time of
// sampling.
func (s *Sampler) others() float64 {
	// What the targets used is subtracted from what the whole machine used.
	busy := seconds(s.lastTimes.busy - s.first.busy)
	for _, used := range s.usage.Total {
		busy -= used
	}
	return max(busy.Seconds(), 0) / max(s.lastAt.Sub(s.began).Seconds(), 0.001)
}

// sample notes what the targets have used since the last sample.
func (s *Sampler) sample() {
	now, times := time.Now(), readCPUTimes()
	span := now.Sub(s.lastAt).Seconds()
	sec := Second{Steal: times.stolenSince(s.lastTimes)}
	for i, t := range s.targets {
		pid := t.PID()
		total := t.cpu(pid)
		used := total - s.last[i]
		if pid != s.lastPID[i] {
			used = total // A new process starts at nothing.
		}
		// A child that ends between two reads can make a tree's sum dip.
		used = max(used, 0)
		s.last[i], s.lastPID[i] = total, pid
		s.usage.Total[i] += used
		sec.CPU = append(sec.CPU, used.Seconds()/max(span, 0.001))
	}
	s.lastAt, s.lastTimes = now, times
	s.usage.Seconds = append(s.usage.Seconds, sec)
}

// cpu returns the CPU time that the target has used so far.
func (t Target) cpu(pid int) time.Duration {
	if pid <= 0 {
		return 0
	}
	own, ok := readStat(pid)
	if !ok {
		return 0
	}
	total := ownTime(own)
	if !t.Tree {
		return total
	}
	// A child that has ended is no longer listed, but its parent's counters have taken over its time once it was
	// waited for.
	total += endedChildrenTime(own)
	for _, child := range Descendants(pid) {
		if stat, ok := readStat(child); ok {
			total += ownTime(stat) + endedChildrenTime(stat)
		}
	}
	return total
}

// readStat reads a process's counters, if it still runs.
func readStat(pid int) (procfs.ProcStat, bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, false
	}
	stat, err := p.Stat()
	return stat, err == nil
}

// ownTime returns the CPU time of the process alone.
func ownTime(p procfs.ProcStat) time.Duration { return time.Duration(p.UTime+p.STime) * clockTick } //nolint:gosec // ticks of a process's life

// endedChildrenTime returns the CPU time of the children that have ended and that the process has waited for.
func endedChildrenTime(p procfs.ProcStat) time.Duration {
	return time.Duration(p.CUTime+p.CSTime) * clockTick
}

// Descendants lists the processes below pid, at any depth.
func Descendants(pid int) []int {
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	// A process names only its parent, so all processes are read once and then searched from the top.
	children := make(map[int][]int)
	for _, p := range processes {
		if stat, err := p.Stat(); err == nil { // a process that has ended in the meantime is left out
			children[stat.PPID] = append(children[stat.PPID], p.PID)
		}
	}
	var all []int
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// cpuTimes is the CPU time of all cores since the machine has started, in seconds.
type cpuTimes struct{ total, busy, steal float64 }

// readCPUTimes leaves the time of interrupts out of what is busy: it is no
// process's, but the load itself causes it as well. Guests' time is a part of the
// users'.
func readCPUTimes() cpuTimes {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return cpuTimes{}
	}
	stat, err := fs.Stat()
	if err != nil {
		return cpuTimes{}
	}
	t := stat.CPUTotal
	busy := t.User + t.Nice + t.System
	return cpuTimes{total: busy + t.Idle + t.Iowait + t.IRQ + t.SoftIRQ + t.Steal, busy: busy, steal: t.Steal}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// stolenSince returns the share of the time since before that the hypervisor took.
func (t cpuTimes) stolenSince(before cpuTimes) float64 {
	if t.total <= before.total {
		return 0
	}
	return (t.steal - before.steal) / (t.total - before.total)
}
