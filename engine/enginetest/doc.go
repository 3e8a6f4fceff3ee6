// Package enginetest tells stories about the kinds, for tests only. A story (Run) is a
// text file that says what happens to an event and its ticket types, one sentence a line,
// and what comes of each: every kind keeps its stories in testdata. The simulator, which
// draws what happens at random, is package cluster/sim.
package enginetest
