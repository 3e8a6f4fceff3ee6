package rig

import (
	"bytes"
	"os"
)

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
	m.CPU = readField("/proc/cpuinfo", "model name")
	m.Memory = readField("/proc/meminfo", "MemTotal")
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = string(bytes.TrimSpace(b))
	}
	return m
}

// readField is the value of the first "name : value" line of a file.
func readField(path, name string) string {
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
