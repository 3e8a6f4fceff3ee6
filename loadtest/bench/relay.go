package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
	"boxoffice/persistence/ports"
)

// drainTime is how long the work that was put off under load may take.
const drainTime = 10 * time.Minute

// relayGoal is the least share of the orders without Kafka that must be reached with Kafka.
const relayGoal = 0.85

// relayResult is what the way through Kafka costs, as medians of the rounds.
type relayResult struct {
	OffRPS   float64 `json:"off_rps"` // facts follow the journal
	OnRPS    float64 `json:"on_rps"`  // facts go through Kafka
	Share    float64 `json:"share"`
	OffCPU   float64 `json:"off_cpu_us_server"` // while orders come; more work is done afterwards
	OnCPU    float64 `json:"on_cpu_us_server"`
	KafkaCPU float64 `json:"on_cpu_us_kafka"`
}

// way is a node whose facts go one way or the other, on a database of its own.
type way struct {
	name      string
	node      *rig.Node
	organizer *rush.Organizer
	kafka     func() int // pid of the broker; nil without one
	gauges    []string   // gauges of the work that the node puts off

	rps, cpu, kafkaCPU []float64
}

// measureRelay measures orders with the facts going through Kafka and without, in turn, on two
// nodes; only one has work at a time.
func (b *bench) measureRelay(ctx context.Context) error {
	return b.withKafka(ctx, func(brokers string, pid func() int) (err error) {
		database, err := b.newDatabase(ctx, "relay")
		if err != nil {
			return err
		}
		dir := filepath.Join(b.dir, "relay")
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
		node, organizer, err := b.startNode(ctx, dir, database, "BOXOFFICE_KAFKA_BROKERS="+brokers)
		if node != nil {
			defer func() { err = errors.Join(err, node.Stop()) }()
		}
		if err != nil {
			return err
		}
		off := &way{name: "without Kafka", node: b.node, organizer: b.organizer, gauges: []string{"readmodel_lag", "facts_lag"}}
		on := &way{
			name: "through Kafka", node: node, organizer: organizer, kafka: pid,
			gauges: []string{"readmodel_lag", "kafka_relay_lag_batches", "kafka_consumer_lag_messages"},
		}
		for i := range b.cmd.Rounds {
			ways := []*way{off, on}
			if i%2 == 1 {
				slices.Reverse(ways)
			}
			for _, w := range ways {
				if err := b.measureWay(ctx, w); err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
			}
		}
		r := &relayResult{
			OffRPS: median(off.rps), OnRPS: median(on.rps), OffCPU: median(off.cpu), OnCPU: median(on.cpu), KafkaCPU: median(on.kafkaCPU),
		}
		r.Share = round(r.OnRPS / r.OffRPS)
		b.result.Relay = r
		say("orders through Kafka: %.0f %% of those without (goal: %.0f at least)", 100*r.Share, 100*relayGoal)
		return nil
	})
}

// measureWay saturates one node, and lets it do the work that it has put off.
func (b *bench) measureWay(ctx context.Context, w *way) error {
	const path = "/api/v1/orders"
	svc, err := client.ParseTarget(w.node.URL)
	if err != nil {
		return err
	}
	sale, err := w.organizer.OpenSale(ctx, []rush.SaleType{{Name: "General", Quantity: plenty, MaxPerOrder: 100, MaxPerCustomer: 1000}})
	if err != nil {
		return err
	}
	cpu := b.cpuOf(w.node.PID)
	if w.kafka != nil {
		cpu = append(cpu, rig.Target{Name: "kafka", PID: w.kafka})
	}
	c := &closed{
		net: b.net, hosts: []string{svc.Host}, conns: b.cmd.Conns, want: 201, numbers: &b.numbers,
		make: orders(svc.Host, path, []string{sale.Types[0].ID}, newKeys()), warm: b.cmd.Warm, measure: b.cmd.Measure, cpu: cpu,
	}
	r, err := c.run(ctx)
	if err != nil {
		return err
	}
	b.disturbed(w.name, r)
	w.rps, w.cpu = append(w.rps, round(r.rps())), append(w.cpu, round(r.micros(0)))
	said := fmt.Sprintf("orders %s: %.0f/s; server %.1f us, Postgres %.1f us", w.name, r.rps(), r.micros(0), r.micros(1))
	if w.kafka != nil {
		w.kafkaCPU = append(w.kafkaCPU, round(r.micros(3)))
		said += fmt.Sprintf(", Kafka %.1f us", r.micros(3))
	}
	if err := b.auditStock(ctx, svc, []*rush.Sale{sale}, r.total); err != nil {
		return err
	}
	began := time.Now()
	// This takes two rounds, because what leaves one queue enters the other.
	for range 2 {
		if err := b.idle(ctx, w.node.URL, drainTime, w.gauges...); err != nil {
			return err
		}
		wait(ctx, time.Second)
	}
	say("%s; put off and done within %v", said, time.Since(began).Round(time.Second))
	return b.settle(ctx)
}

// newDatabase makes another database on the Postgres under test.
func (b *bench) newDatabase(ctx context.Context, name string) (string, error) {
	if err := b.exec(ctx, b.postgres.URL(), "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	u, err := url.Parse(b.postgres.URL())
	if err != nil {
		return "", fmt.Errorf("database %s: %w", name, err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

// withKafka runs f while a broker runs.
func (b *bench) withKafka(ctx context.Context, f func(brokers string, pid func() int) error) (err error) {
	free, err := ports.Free(ctx, 1)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	address := free[0]
	port := address[strings.LastIndexByte(address, ':')+1:]
	if b.cmd.Relay == "real" {
		return b.withRealKafka(ctx, port, func(pid func() int) error { return f(address, pid) })
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, "kafka", "--port", port)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) }()
	return f(address, rig.FixedPID(cmd.Process.Pid))
}

// withRealKafka runs f while a real Kafka runs in a JVM.
func (b *bench) withRealKafka(ctx context.Context, port string, f func(pid func() int) error) (err error) {
	dir := filepath.Join(b.dir, "kafka")
	run := func(ctx context.Context, command string) error {
		cmd := exec.CommandContext(ctx, ".ci/kafka", command, "--port", port, "--dir", dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("kafka: %s: %w: %s", command, err, text)
		}
		return nil
	}
	defer func() { err = errors.Join(err, run(context.WithoutCancel(ctx), "stop")) }()
	if err := run(ctx, "start"); err != nil {
		return err
	}
	pid, err := rig.ReadPIDFile(filepath.Join(dir, "pid"))
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	return f(rig.FixedPID(pid))
}

// kafkaCmd is the process with the fake broker.
type kafkaCmd struct {
	Port string `required:""`
}

// Run serves until a signal.
func (c *kafkaCmd) Run(ctx context.Context) error {
	port, err := strconv.Atoi(c.Port)
	if err != nil {
		return fmt.Errorf("port: %w", err)
	}
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port))
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer broker.Close()
	<-ctx.Done()
	return nil
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}
