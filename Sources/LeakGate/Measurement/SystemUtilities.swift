/// The shells and small tools of the system that test scripts consist of.
///
/// `make check` of a project with Autotools starts dozens of them. Several free nothing at their end
/// (`sed`, `sort`, `bash`), others are killed on purpose (`sleep`), and all that would drown what the
/// project's own programs do. Only where the system keeps them: a project that builds a `sed` runs
/// its own from elsewhere. Interpreters that load libraries of a project (Python, Perl, node) are
/// none of these.
enum SystemUtilities {
  private static let folders: Set<Substring> = ["/bin", "/usr/bin"]

  private static let names: Set<Substring> = Set(
    """
    bash busybox dash ksh sh zsh
    [ arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd
    df dir dirname du echo env expand expr factor false fmt fold groups head hostid id install join
    link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk
    pr printenv printf ptx pwd readlink realpath rm rmdir seq sha1sum sha224sum sha256sum sha384sum
    sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr
    true truncate tsort tty uname unexpand uniq unlink wc who whoami yes
    awk cmp diff diff3 egrep fgrep find flock gawk getopt grep gzip hostname kill m4 mawk nawk
    original-awk patch pgrep pkill ps sdiff sed setsid tar which xargs
    """.split { $0 == " " || $0 == "\n" })

  /// Whether a program, by its path, is one of these.
  static func contains(_ executable: String) -> Bool {
    guard let slash = executable.lastIndex(of: "/") else { return false }
    return folders.contains(executable[..<slash])
      && names.contains(executable[executable.index(after: slash)...])
  }
}
