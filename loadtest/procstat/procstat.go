// Package procstat reads from /proc what processes cost: CPU time of a process
// or of a whole tree, once a second, and the time that a hypervisor took away.
//
// A Sampler owns one goroutine; Stop ends it and returns what was seen. Linux
// only: elsewhere every number is 0.
package procstat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// tick is one unit of utime and stime. The kernel's USER_HZ is 100 on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

// Target is something whose CPU is sampled: a process, or a process and all its
// descendants.
type Target struct {
	Name string
	// PID is asked at each sample, because a process may be restarted under
	// another number; 0 means not running.
	PID  func() int
	Tree bool
}

// Fixed is the PID of a process that does not change.
func Fixed(pid int) func() int { return func() int { return pid } }

// Second is what was used in one second.
type Second struct {
	CPU   []float64 // per target, in cores (1 is one core busy)
	Steal float64   // share of all cores' time that the hypervisor took, 0 to 1
}

// Usage is what a Sampler saw.
type Usage struct {
	Names   []string
	Seconds []Second
	Total   []time.Duration // CPU time per target
	Steal   float64         // share of the whole time
	Others  float64         // cores that all other processes kept busy, on average
}

// Sampler samples until it is stopped.
type Sampler struct {
	targets []Target
	stop    chan struct{}
	once    sync.Once
	done    chan struct{}
	usage   Usage

	last      []time.Duration // per target; CPU time so far
	lastPID   []int
	lastAt    time.Time
	lastTimes cpuTimes
	first     cpuTimes
	began     time.Time
}

// Start begins to sample.
func Start(targets ...Target) *Sampler {
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

// others is what the machine was busy with besides the targets.
func (s *Sampler) others() float64 {
	busy := time.Duration(s.lastTimes.busy-s.first.busy) * tick
	for _, used := range s.usage.Total {
		busy -= used
	}
	return max(busy.Seconds(), 0) / max(s.lastAt.Sub(s.began).Seconds(), 0.001)
}

func (s *Sampler) sample() {
	now, times := time.Now(), readCPUTimes()
	span := now.Sub(s.lastAt).Seconds()
	sec := Second{Steal: times.stolenSince(s.lastTimes)}
	for i, t := range s.targets {
		pid := t.PID()
		total := t.cpu(pid)
		used := total - s.last[i]
		if pid != s.lastPID[i] {
			used = total // a new process starts at nothing
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

// cpu is the CPU time of the target so far.
func (t Target) cpu(pid int) time.Duration {
	if pid <= 0 {
		return 0
	}
	p, ok := readStat(pid)
	if !ok {
		return 0
	}
	total := p.own
	if !t.Tree {
		return total
	}
	total += p.reaped // of children that have ended
	for _, d := range Descendants(pid) {
		if p, ok := readStat(d); ok {
			total += p.own + p.reaped
		}
	}
	return total
}

// stat is a line of /proc/<pid>/stat, as far as it matters here.
type stat struct {
	parent      int
	own, reaped time.Duration
}

func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name, field 2, is in parentheses and may hold anything.
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return stat{}, false
	}
	f := bytes.Fields(b[end+1:]) // f[0] is field 3
	if len(f) < 15 {
		return stat{}, false
	}
	n := func(field int) int64 {
		v, _ := strconv.ParseInt(string(f[field-3]), 10, 64) // the kernel writes numbers
		return v
	}
	ticks := func(a, b int) time.Duration { return time.Duration(n(a)+n(b)) * tick }
	return stat{parent: int(n(4)), own: ticks(14, 15), reaped: ticks(16, 17)}, true
}

// Descendants lists the processes below pid, at any depth.
func Descendants(pid int) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	children := make(map[int][]int)
	for _, dir := range dirs {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if p, ok := readStat(child); ok {
			children[p.parent] = append(children[p.parent], child)
		}
	}
	var all []int
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// cpuTimes is the first line of /proc/stat, in ticks of all cores.
type cpuTimes struct{ total, busy, steal int64 }

func readCPUTimes() cpuTimes {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTimes{}
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var t cpuTimes
	for i, f := range bytes.Fields(line) {
		v, err := strconv.ParseInt(string(f), 10, 64)
		if i == 0 || err != nil || i > 8 { // fields 9 and 10, guest time, are part of user time
			continue
		}
		t.total += v
		switch i {
		case 4, 5: // idle, waiting for a disk
		case 6, 7: // interrupts: no process's, but caused by the load itself as well
		case 8:
			t.steal = v
		default:
			t.busy += v
		}
	}
	return t
}

func (t cpuTimes) stolenSince(before cpuTimes) float64 {
	if t.total <= before.total {
		return 0
	}
	return float64(t.steal-before.steal) / float64(t.total-before.total)
}

// Machine says on what a run was measured.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Memory string `json:"memory"`
}

// ReadMachine describes this machine; what cannot be read stays empty.
func ReadMachine(cores int) Machine {
	m := Machine{Cores: cores}
	m.CPU = field("/proc/cpuinfo", "model name")
	m.Memory = field("/proc/meminfo", "MemTotal")
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = string(bytes.TrimSpace(b))
	}
	return m
}

// field is the value of the first "name : value" line of a file.
func field(path, name string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if ok && string(bytes.TrimSpace(key)) == name {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// ReadPIDFile returns the number in the first line of a file such as
// postmaster.pid.
func ReadPIDFile(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return pid, nil
}
