import SystemPackage
import Testing
import TraceTestSupport

/// What shells offer while a command line is typed.
@Suite struct CompletionTests {
  @Test(
    "bash completes names, values after =, and what follows --",
    arguments: [
      ("help re", "record resume report"),
      ("report --format ", "text json"),
      ("report --format =", "text json"),
      ("report --format = j", "json"),
      ("allocations --group-by = im", "image"),
      ("report --fo", "--format"),
      ("report a", "a.mtrace"),
      ("record -- ls my", "my notes.txt"),
      ("record -- ./me", "./memtrace-test-program"),
      ("check --depth 5 -- ls --color a", "a.mtrace"),
      ("record -- memtrace-test-pro", "memtrace-test-program"),
    ])
  func bash(line: String, expected: String) throws {
    let folder = try ScratchDirectory()
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    let quoted = (["memtrace"] + words).map { "'\($0)'" }.joined(separator: " ")
    let run = try ProcessRun.run(
      [
        "/bin/bash", "-c",
        """
        touch a.mtrace 'my notes.txt' memtrace-test-program
        chmod +x memtrace-test-program
        PATH=.:$PATH
        . <("$0" --generate-completion-script bash)
        COMP_WORDS=(\(quoted))
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        __memtrace_complete memtrace "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[@]}"
        """, BuiltProducts.memtrace.string,
      ], environment: ["PATH=/usr/bin:/bin", "LANG=C"], directory: folder.path)
    #expect(run.outputText == expected + "\n", "\(run.errorText)")
  }

  @Test("a running process is offered where one is asked for, a recorded one where it must be")
  func processes() throws {
    func offersItsShell(after command: String) throws -> Bool {
      let run = try ProcessRun.run(
        [
          "/bin/bash", "-c",
          """
          . <("$0" --generate-completion-script bash)
          COMP_WORDS=(memtrace \(command) $$)
          COMP_CWORD=2
          __memtrace_complete memtrace $$ \(command)
          echo "${COMPREPLY[@]} $$"
          """, BuiltProducts.memtrace.string,
        ], environment: ["PATH=/usr/bin:/bin", "LANG=C"])
      let words = run.outputText.split { $0 == " " || $0 == "\n" }
      let shell = try #require(words.last)
      return words.dropLast().contains(shell)
    }
    #expect(try offersItsShell(after: "attach"))
    #expect(try !offersItsShell(after: "mark"))
  }

  @Test func zshLearnsWhatItsScriptLeavesOut() throws {
    let text = try script("zsh")
    #expect(text.contains("_memtrace() {\n    # What follows -- is the command line"))
    #expect(text.contains("'1:subcommand:(record attach pause "))
    #expect(text.contains("'--group-by=[What the rows"))
    #expect(text.contains("'(--output -o)'{--output=,-o}'[Write"))
    #expect(text.contains("'--blocks[List"))
    #expect(text.contains("'*--debug-dir=[Look"))
  }

  @Test func fishLearnsWhatItsScriptLeavesOut() throws {
    let text = try script("fish")
    #expect(text.contains("-n '__memtrace_is_after_dashes' -fa '(__memtrace_complete_command)'"))
    #expect(text.contains("\"memtrace help\" -eq 1' -fa 'record attach pause "))
  }

  @Test func theShellMayFollowAnEqualsSign() throws {
    let run = try memtrace("--generate-completion-script=bash")
    #expect(run.outputText == (try script("bash")))
    #expect(try memtrace("--generate-completion-script", "tcsh").status != 0)
  }

  private func script(_ shell: String) throws -> String {
    let run = try memtrace("--generate-completion-script", shell)
    #expect(run.status == 0)
    return run.outputText
  }
}
