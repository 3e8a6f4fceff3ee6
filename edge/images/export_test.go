package images

import "time"

// LimitTime sets how long an image may take.
func (m *Maker) LimitTime(d time.Duration) { m.within = d }
