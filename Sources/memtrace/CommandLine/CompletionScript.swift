import ArgumentParser

/// The completion script of a shell: that of the argument parser, and what it leaves out.
///
/// The parser's offers nothing after `--`, where the command line of another program begins, and no names after
/// `help`; of bash and zsh it takes no value that follows `=`.
struct CompletionScript {
  /// The text for the shell to read.
  let text: String

  /// `nil` when the arguments ask for no script, or for that of an unknown shell: the parser says so.
  ///
  /// - Parameter arguments: Those of memtrace.
  init?(askedForBy arguments: some Collection<String>) {
    guard let option = arguments.first?.split(separator: "=", maxSplits: 1).map(String.init),
      option.first == "--generate-completion-script"
    else { return nil }
    let names = option.dropFirst() + arguments.dropFirst()
    guard names.count <= 1 else { return nil }
    let shell = names.first.map(CompletionShell.init(rawValue:)) ?? .autodetected()
    guard let shell else { return nil }
    self.init(for: shell)
  }

  /// - Parameter shell: Which one reads it.
  init(for shell: CompletionShell) {
    let script = MemtraceCommand.completionScript(for: shell)
    let commands = MemtraceCommand.configuration.subcommands.compactMap {
      $0.configuration.commandName
    }
    let names = commands.joined(separator: " ")
    text =
      switch shell {
      case .bash:
        script + "\n" + Self.bash.replacing("NAMES", with: commands.joined(separator: "\n"))
      case .zsh:
        script.replacing("_memtrace() {\n", with: "_memtrace() {\n" + Self.zsh, maxReplacements: 1)
          .replacing("'*:subcommands:'", with: "'1:subcommand:(\(names))'")
          .replacing(Self.optionsWithValues) { "\($0.option)=\($0.rest)" }
      case .fish: script + "\n" + Self.fish.replacing("NAMES", with: names)
      default: script
      }
  }

  /// Stands around the parser's function.
  ///
  /// `COMP_WORDS` is an array that functions below see as it is here.
  private static let bash = #"""
    # What follows -- is the command line of another program.
    __memtrace_complete_command() {
        local -i start="${1}"
        if declare -F _command_offset >/dev/null; then
            _command_offset "${start}"
        elif [[ "${COMP_CWORD}" -eq "${start}" && "${cur}" != */* ]]; then
            __memtrace_add_completions -c
        else
            __memtrace_add_completions -f
        fi
    }

    __memtrace_complete() {
        local cur="${2}"
        local -i index
        for ((index = 2; index < COMP_CWORD; index++)); do
            if [[ "${COMP_WORDS[index]}" = -- ]]; then
                __memtrace_complete_command "$((index + 1))"
                return
            fi
        done
        if [[ "${COMP_WORDS[1]}" = help && "${COMP_CWORD}" -eq 2 ]]; then
            __memtrace_add_completions -W 'NAMES'
            return
        fi
        # Readline splits --format=json in three.
        local prev="${3}"
        local -i cword="${COMP_CWORD}"
        local -a words=("${COMP_WORDS[@]}")
        if [[ "${words[cword]}" = = && "${prev}" = --* ]]; then
            words[cword]=''
            cur=''
        elif [[ "${prev}" = = && "${words[cword - 2]}" = --* ]]; then
            words=("${words[@]:0:cword - 1}" "${words[@]:cword}")
            cword=$((cword - 1))
            prev="${words[cword - 1]}"
        fi
        local -a COMP_WORDS=("${words[@]}")
        local -i COMP_CWORD="${cword}"
        _memtrace "${1}" "${cur}" "${prev}"
    }

    complete -o filenames -F __memtrace_complete memtrace

    """#

  /// Those of zsh that are not given as `--format=json`, though they might: `'--format[The form.]:form:…'`.
  private static var optionsWithValues: Regex<(Substring, option: Substring, rest: Substring)> {
    /(?m)^(?<option> +'(?:\*|\(-.*\)'{)?--[-a-z]+)(?<rest>(?:,-.})?'?\[.*\]:)/
  }

  /// The first lines of the parser's function.
  private static let zsh = #"""
        # What follows -- is the command line of another program.
        local -i dashes="${words[(i)--]}"
        if ((dashes > 2 && dashes < CURRENT)); then
            shift "${dashes}" words
            ((CURRENT -= dashes))
            _normal
            return
        fi


    """#

  private static let fish = #"""
    # What follows -- is the command line of another program.
    function __memtrace_is_after_dashes
        contains -- -- (commandline -opc)
    end

    function __memtrace_complete_command
        set -l words (commandline -opc)
        set -l dashes (contains -i -- -- $words)
        set -l command (string escape -- $words[(math $dashes + 1)..])
        complete -C (string join ' ' -- $command (commandline -ct))
    end

    complete -c 'memtrace' -n '__memtrace_is_after_dashes' -fa '(__memtrace_complete_command)'
    complete -c 'memtrace' -n '__memtrace_should_offer_completions_for_positional "memtrace help" -eq 1' -fa 'NAMES'

    """#
}
