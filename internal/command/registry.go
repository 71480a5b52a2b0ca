package command

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) registryCommand() *cli.Command {
	return &cli.Command{
		Name: "registry", Usage: "log in to registries, and out of them", ArgsUsage: "login|logout",
		Description: describe("Keeps the credentials of registries, in Helm's file or in the helper that it names.\nThose of Docker and Podman are read, too.", "kubectl release registry login ghcr.io -u ci --password-stdin"),
		Action: p.readOnly(func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
			}
			return cli.ShowSubcommandHelp(c)
		}),
		Subcommands: []*cli.Command{p.registryLoginCommand(), p.registryLogoutCommand()},
	}
}

func (p *program) registryLoginCommand() *cli.Command {
	text := func(name, usage string, aliases ...string) cli.Flag {
		return &cli.StringFlag{Name: name, Aliases: aliases, Usage: usage}
	}
	return &cli.Command{
		Name: "login", Usage: "log in to a registry", ArgsUsage: "HOST",
		Description: describe("Asks the registry whether it takes the user name and password, and keeps them. Without a\nuser name the password is a token.", "kubectl release registry login ghcr.io -u ci --password-stdin"),
		Flags: joined([]cli.Flag{
			text("username", "user name", "u"), text("password", "password, or a token; --password-stdin shows it to nobody", "p"),
			&cli.BoolFlag{Name: "password-stdin", Usage: "read the password from standard input"},
			&cli.BoolFlag{Name: "insecure", Usage: "do not check the registry's certificate"},
			plainHTTPFlag(), text("cert-file", "client certificate `FILE`"), text("key-file", "`FILE` with its key"), text("ca-file", "`FILE` of certificate authorities"),
		}, pathFlags()),
		Action: p.readOnly(p.registryLogin),
	}
}

func (p *program) registryLogin(c *cli.Context) error {
	args, err := arguments(c, 1, 1)
	if err != nil {
		return err
	}
	if strings.Contains(args[0], "/") {
		return usage("%q is no registry: give its host and port alone", args[0])
	}
	s, err := repositories(c)
	if err != nil {
		return err
	}
	s.Access = tlsAccess(c)
	s.Access.Insecure, s.Access.PlainHTTP = c.Bool("insecure"), c.Bool("plain-http")
	user, password, err := p.userAndPassword(c)
	if err != nil {
		return err
	}
	if err := s.Login(c.Context, args[0], user, password); err != nil {
		return err
	}
	fmt.Fprintln(p.streams.Err, "Login Succeeded")
	return nil
}

// userAndPassword are those of flags, else typed: a token when no user is.
func (p *program) userAndPassword(c *cli.Context) (user, password string, err error) {
	user = c.String("username")
	if user == "" && c.String("password") == "" && !c.Bool("password-stdin") {
		if !isTerminal(p.raw.In) {
			return "", "", errors.New("nobody is there to be asked: add --username and --password-stdin")
		}
		fmt.Fprint(p.streams.Err, "Username: ")
		if user, err = bufio.NewReader(p.streams.In).ReadString('\n'); err != nil {
			return "", "", fmt.Errorf("read the user name: %w", err)
		}
		if user = strings.TrimSpace(user); user == "" {
			password, err = p.typed("Token")
			return "", password, err
		}
	}
	password, err = p.password(c, user, c.String("password"))
	if err == nil && password == "" {
		err = errors.New("the password is empty")
	}
	return user, password, err
}

func (p *program) registryLogoutCommand() *cli.Command {
	return &cli.Command{
		Name: "logout", Usage: "forget the credentials of a registry", ArgsUsage: "HOST",
		Description: describe("Forgets the credentials that login has kept.", "kubectl release registry logout ghcr.io"),
		Flags:       pathFlags(),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			s, err := repositories(c)
			if err != nil {
				return err
			}
			if err := s.Logout(c.Context, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(p.streams.Err, "Removing login credentials for %s\n", args[0])
			return nil
		}),
	}
}
