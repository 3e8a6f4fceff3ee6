package facts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"boxoffice/loadtest/rig"
)

const (
	// frozenFor is longer than a group of Kafka consumers waits for a silent member. The frozen process thus loses
	// its partitions to others, and must notice that when it goes on.
	frozenFor = 15 * time.Second
	// nodeBack bounds how long a killed node takes to start.
	nodeBack = 30 * time.Second
)

// broker is a Kafka of the harness's own; nil if there is none.
type broker struct {
	// program is the script that starts, kills and stops the broker, args say which broker, and dir has its data.
	program string
	args    []string
	address string
	dir     string
}

// startBroker starts a broker without data, if the facts go through Kafka.
func startBroker(ctx context.Context, cfg *Config) (*broker, error) {
	if !cfg.usesKafka() {
		return nil, nil
	}
	port := strconv.Itoa(cfg.KafkaPort)
	b := &broker{program: cfg.Kafka, address: "127.0.0.1:" + port, dir: filepath.Join(cfg.Out, "kafka")}
	b.args = []string{"--port", port, "--dir", b.dir}
	if err := b.run(ctx, "kill"); err != nil { // an earlier run may have left one
		return nil, err
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return b, b.run(ctx, "start")
}

// run calls the script with a command. The script gets a process group of its own, so that an interrupt at the
// terminal reaches the harness alone and the broker is then stopped in order.
func (b *broker) run(ctx context.Context, command string) error {
	cmd := exec.CommandContext(ctx, b.program, append([]string{command}, b.args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", b.program, command, err, text)
	}
	return nil
}

// stop stops the broker in an orderly way. It does nothing if there is none.
func (b *broker) stop(ctx context.Context) error {
	if b == nil {
		return nil
	}
	return b.run(ctx, "stop")
}

// env returns the variables by which a node finds the broker.
func (b *broker) env() []string {
	if b == nil {
		return nil
	}
	return []string{"BOXOFFICE_KAFKA_BROKERS=" + b.address}
}

// startConsumer starts a process that consumes facts.
func (f *run) startConsumer(ctx context.Context) (*exec.Cmd, error) {
	c := f.node.Process.Command(ctx, "consume")
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	return c, nil
}

// addConsumer starts one more process that consumes facts.
func (f *run) addConsumer(ctx context.Context) error {
	c, err := f.startConsumer(ctx)
	if err == nil {
		f.consumers = append(f.consumers, c)
	}
	return err
}

// stopConsumers stops the processes in an orderly way.
func (f *run) stopConsumers() error {
	var errs []error
	// All are told before the first one is waited for, so that they end at the same time.
	for _, c := range f.consumers {
		errs = append(errs, c.Process.Signal(syscall.SIGTERM))
	}
	for _, c := range f.consumers {
		errs = append(errs, c.Wait())
	}
	f.consumers = nil
	return errors.Join(errs...)
}

// disturbRun kills consumers at random times, both before the broker is taken away and after. Half of the kills and
// freezes come before, the rest after: both halves of the run must deliver every fact once. Without Kafka there is
// no broker to take away, and all kills are spread over the whole run.
func (f *run) disturbRun(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(f.cfg.Seed, 1<<63))
	if f.kafka == nil {
		return f.killAll(ctx, rng, f.cfg.Kills, 0, f.cfg.Duration)
	}
	span := (f.cfg.Duration - f.cfg.Outage) / 2
	if err := f.killAll(ctx, rng, f.cfg.Kills/2, f.cfg.Freezes/2, span); err != nil {
		return err
	}
	if err := f.takeKafkaAway(ctx); err != nil {
		return err
	}
	// The backlog is waited for while consumers are killed again. That is what makes the way back hard.
	failed := make(chan error, 1)
	go func() { failed <- f.waitForBacklog(ctx) }()
	err := f.killAll(ctx, rng, f.cfg.Kills-f.kills, f.cfg.Freezes-f.freezes, span)
	return errors.Join(err, <-failed)
}

// takeKafkaAway kills the broker and starts it again.
func (f *run) takeKafkaAway(ctx context.Context) error {
	// From here on orders count as placed while Kafka is away, so that their latencies can be compared with those
	// before.
	f.PlaceAs.Store(uint32(opPlaceAway))
	f.log.InfoContext(ctx, "kafka killed")
	if err := f.kafka.run(ctx, "kill"); err != nil {
		return err
	}
	if err := rig.Pause(ctx, f.cfg.Outage); err != nil {
		return err
	}
	f.PlaceAs.Store(uint32(opPlaceBack)) // the time in which the JVM starts on the same cores is not part of the absence
	if err := f.kafka.run(ctx, "start"); err != nil {
		return err
	}
	f.log.InfoContext(ctx, "kafka is back")
	return nil
}

// waitForBacklog waits until everything that was journaled before the broker came back has arrived.
func (f *run) waitForBacklog(ctx context.Context) error {
	if err := f.node.Process.Command(ctx, "consume", "--mark").Run(); err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	// The first reading is the backlog at the broker's return. Later readings only tell when it is gone.
	first := true
	t, took, err := f.waitForTally(ctx, func(t Tally) bool {
		if first {
			f.backlog, first = t.Backlog, false
		}
		return t.Backlog == 0
	})
	if err == nil && t.Backlog == 0 {
		f.drained = took
	}
	return err
}

// killAll kills consumers, spread over the span, and freezes some from its beginning.
func (f *run) killAll(ctx context.Context, rng *rand.Rand, kills, freezes int, span time.Duration) (err error) {
	// Every frozen process must go on before this function returns. A process that stays stopped could not be ended
	// in order.
	thawed := make(chan error, freezes)
	defer func() {
		for range cap(thawed) {
			err = errors.Join(err, <-thawed)
		}
	}()
	for _, c := range f.consumers[:freezes] {
		go func() { thawed <- f.freezeConsumer(ctx, c) }()
	}
	for range kills {
		// Each kill has a share of the span and comes at a random moment around the middle of its share. A frozen
		// consumer is never killed: the first consumers are the frozen ones.
		every := span / time.Duration(kills)
		if err := rig.Pause(ctx, every/2+time.Duration(rng.Int64N(int64(every)))); err != nil {
			return err
		}
		if err := f.killConsumer(ctx, freezes+rng.IntN(len(f.consumers)-freezes)); err != nil {
			return err
		}
	}
	f.freezes += freezes
	return nil
}

// freezeConsumer stops a process until its group has given its partitions to others, and then lets
// it go on as if nothing had happened.
func (f *run) freezeConsumer(ctx context.Context, c *exec.Cmd) error {
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	return errors.Join(rig.Pause(ctx, frozenFor), c.Process.Signal(syscall.SIGCONT))
}

// killConsumer kills a consumer and starts another one in its place. Without Kafka it also kills
// the node, whose own follower consumes facts too.
func (f *run) killConsumer(ctx context.Context, i int) error {
	if err := f.consumers[i].Process.Kill(); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	_ = f.consumers[i].Wait() // returns that it was killed
	if f.kafka == nil {
		if err := f.node.Kill(); err != nil {
			return err
		}
		if err := f.node.Start(ctx, nodeBack); err != nil {
			return err
		}
	}
	f.kills++
	f.log.InfoContext(ctx, "consumer killed", slog.Int("kills", f.kills))
	var err error
	f.consumers[i], err = f.startConsumer(ctx)
	return err
}
