package sim

import (
	"boxoffice/cluster/sim/bugs"
	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/persistence/codec"
)

// replayStream is the state that a stream's facts come to, from its snapshot or from
// the start.
func (s *Sim) replayStream(st *stream, fromSnapshot bool) (engine.State, error) {
	kind, err := all.Kind(st.ref.Kind)
	if err != nil {
		return nil, err
	}
	state, seq := kind.New(st.ref), int64(0)
	if snap := st.snapshot(); fromSnapshot && snap.seq > 0 {
		v := kind.Frozen()
		if err := codec.Unmarshal(snap.state, v); err != nil {
			return nil, err
		}
		if state, err = kind.Thaw(st.ref, v); err != nil {
			return nil, err
		}
		seq = snap.seq
		if s.bug == bugs.ShortSnapshot {
			seq++
		}
	}
	for _, r := range st.rows {
		if r.last <= seq {
			continue
		}
		facts, err := codec.Facts(st.ref.Kind, r.bytes)
		if err != nil {
			return nil, err
		}
		for i, f := range facts {
			if r.first+int64(i) > seq {
				state.Apply(f)
			}
		}
	}
	return state, nil
}
