package route

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Encoding holds the options for every JSON body that we send; they make equal answers equal bytes.
var Encoding = json.JoinOptions(json.Deterministic(true))

// appendData appends the success envelope of out.
func appendData[Out any](buf *bytes.Buffer, out Out) error {
	buf.WriteString(`{"data":`)
	if a, ok := any(out).(Appender); ok {
		buf.Write(a.AppendJSON(buf.AvailableBuffer()))
	} else if err := json.MarshalWrite(buf, out, Encoding); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	buf.WriteByte('}')
	return nil
}
