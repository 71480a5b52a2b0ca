package controlplane

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// LifelineVariable is set in the environment of every part: it tells the part to
// end when its standard input is closed, which happens when its starter is gone.
const LifelineVariable = "TESTCLUSTER_LIFELINE"

// process is one running part of the control plane.
type process struct {
	name     string
	command  *exec.Cmd
	lifeline io.Closer
	log      string
	done     chan struct{} // closed when the process has ended
}

// spawner starts processes from one thread that never ends: on Linux, Pdeathsig kills
// a child when the thread that started it dies.
type spawner struct {
	requests chan func()
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// garbage is the GOGC of the parts, in percent: memory is less scarce than CPU time.
const garbage = "300"

// start runs our own binary with the subcommand name; its output goes to log.
func (s *spawner) start(name, log string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own binary: %w", err)
	}
	output, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("create the log of %s: %w", name, err)
	}
	defer output.Close()

	p := &process{name: name, log: log, done: make(chan struct{})}
	p.command = exec.Command(self, append([]string{name}, args...)...)
	p.command.Env = append(os.Environ(), LifelineVariable+"=stdin", "GOGC="+garbage)
	p.command.Stdout, p.command.Stderr = output, output
	p.command.SysProcAttr = childAttributes()
	p.lifeline, err = p.command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open the lifeline of %s: %w", name, err)
	}
	result := make(chan error)
	s.requests <- func() { result <- p.command.Start() }
	if err := <-result; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	prioritize(p.command.Process.Pid)
	go func() {
		// The log shows how it ended; only that it ended matters here.
		_ = p.command.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop kills the process and returns when it is gone. Killing loses nothing, since
// the data of a test cluster does not outlive it.
func (p *process) stop() {
	_ = p.command.Process.Kill()
	<-p.done
}

// lastWords returns the end of the process's log, for an error message.
func (p *process) lastWords() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	const few = 15
	if len(lines) > few {
		lines = lines[len(lines)-few:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}
