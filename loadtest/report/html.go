package report

import (
	"bytes"
	"fmt"
	"html/template"
)

// HTML is the report as one page that loads nothing from elsewhere.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	data := struct {
		*Report
		Charts   []template.HTML
		Sections [][][]string
		Found    []string
	}{Report: r, Charts: r.plotCharts()}
	// A table with nothing but its heading says nothing, so it is left out, as it is from the text report.
	for _, rows := range [][][]string{
		r.latencyRows(), r.errorRows(), r.orderRows(), r.cpuRows(), r.outageRows(), r.injuryRows(), r.shardRows(), r.deliveryRows(), r.auditRows(),
	} {
		if len(rows) > 1 {
			data.Sections = append(data.Sections, rows)
		}
	}
	for _, c := range r.Audit.Checks {
		for _, f := range c.Findings {
			data.Found = append(data.Found, c.Name+": "+f)
		}
	}
	if err := page.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// plotCharts are the plots over time.
func (r *Report) plotCharts() []template.HTML {
	// of reads one figure of every second, as the values of a curve.
	of := func(value func(i int) float64) []float64 {
		var ys []float64
		for i := range r.Seconds {
			ys = append(ys, value(i))
		}
		return ys
	}
	all := []chart{
		{Title: "Requests per second", Lines: []line{
			{"offered", of(func(i int) float64 { return float64(r.Seconds[i].Offered) })},
			{"done", of(func(i int) float64 { return float64(r.Seconds[i].Done) })},
			{"failed", of(func(i int) float64 { return float64(r.Seconds[i].Failed) })},
		}},
		{Title: "Latency, ms, from the intended send time", Log: true, Lines: []line{
			{"p50", of(func(i int) float64 { return r.Seconds[i].P50 })},
			{"p99", of(func(i int) float64 { return r.Seconds[i].P99 })},
			{"max", of(func(i int) float64 { return r.Seconds[i].Max })},
		}},
		{Title: "p99, ms: what a closed loop would have seen, and how late the generator was", Log: true, Lines: []line{
			{"service", of(func(i int) float64 { return r.Seconds[i].ServiceP99 })},
			{"send lag", of(func(i int) float64 { return r.Seconds[i].LagP99 })},
		}},
	}
	// CPUSeries has, for each second, the cores of all processes in the order of r.CPU. A curve needs the seconds
	// of one process.
	cpu := chart{Title: "CPU, cores"}
	for t, row := range r.CPU {
		var ys []float64
		for _, s := range r.CPUSeries {
			ys = append(ys, s.CPU[t])
		}
		cpu.Lines = append(cpu.Lines, line{row.Name, ys})
	}
	// Every chart shows when something was killed, because that explains most of what its curves do.
	for _, o := range r.Outages {
		for i := range all {
			all[i].Marks = append(all[i].Marks, mark{o.At.Seconds(), o.What})
		}
		cpu.Marks = append(cpu.Marks, mark{o.At.Seconds(), o.What})
	}
	var out []template.HTML
	for _, c := range append(all, cpu) {
		out = append(out, c.svg())
	}
	return out
}

var page = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1rem; margin: 1.6rem 0 .2rem }
table { border-collapse: collapse; margin: 1.4rem 0; font-variant-numeric: tabular-nums; font-size: .87rem }
th, td { text-align: right; padding: .15rem .6rem; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
.bad { color: #a40000; font-weight: 600 } .good { color: #1a6e2e; font-weight: 600 }
svg { width: 100%; height: auto } svg text { font: 11px system-ui, sans-serif; fill: #555 }
details { margin: 1rem 0 } pre { overflow-x: auto; font-size: .8rem }
</style></head><body>
<h1>{{.Title}}</h1>
<p>{{.Target}}, {{.Started.Format "2006-01-02 15:04:05 MST"}}<br>
{{.Machine.CPU}}, {{.Machine.Cores}} cores, {{.Machine.Memory}}, Linux {{.Machine.Kernel}}; generator {{.Version}}</p>
<p>Offered {{.Offered}} requests ({{printf "%.0f" .OfferedRate}}/s), achieved {{.Achieved}}
({{printf "%.0f" .AchievedRate}}/s) in {{printf "%.0f" .WindowSeconds}} s.</p>
{{range .Invalid}}<p class="bad">INVALID: {{.}}</p>{{else}}<p class="good">The run is valid: the generator kept its schedule.</p>{{end}}
{{range .Found}}<p class="bad">FOUND {{.}}</p>{{else}}<p class="good">The audit found nothing.</p>{{end}}
{{range .Charts}}{{.}}
{{end}}{{range .Sections}}<table>{{range $i, $row := .}}<tr>{{range $row}}{{if $i}}<td>{{.}}</td>{{else}}<th>{{.}}</th>{{end}}{{end}}</tr>
{{end}}</table>
{{end}}<details><summary>Configuration</summary><pre>{{printf "%+v" .Config}}</pre></details>
</body></html>
`))
