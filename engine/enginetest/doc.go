// Package enginetest tells stories about the kinds, for tests only. A story (Run) is a text file
// that says what happens to an event and its ticket types, one sentence a line, followed by the
// results of each. Every kind keeps its stories in testdata. The simulator, which draws at random
// what happens, is package cluster/sim.
package enginetest
