package limit

import (
	"fmt"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/velocity"
)

// textMegabytes is the memory of the counts of changes.
const textMegabytes = 1

// Texts counts on a node how often organizers change what has long texts. Each change writes all of
// them again. Any goroutine may call its methods.
type Texts struct {
	table *Table
	scale float64
}

// NewTexts makes the counts, their limit multiplied by scale.
func NewTexts(scale float64) *Texts { return &Texts{New(textMegabytes), scale} }

// Change counts a change of something by what names it, which is the same however the request names
// it.
func (t *Texts) Change(c *route.Call, name ...any) error {
	most := Scale(RuleTexts.Most, t.scale)
	v := t.table.TakeWithin(t.table.Of(c.Op.ID, fmt.Sprint(name...)), most, RuleTexts.Span, c.Now)
	if v.Allowed {
		return nil
	}
	wait := int64((v.Retry + time.Second - 1) / time.Second)
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(wait),
		Details: velocity.Exceeded{Rule: RuleTexts.Name, Limit: int64(most), WindowSeconds: int64(RuleTexts.Span.Seconds()), RetryAfterSeconds: wait},
	}
}
