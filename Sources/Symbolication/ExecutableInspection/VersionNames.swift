import CLibDW

/// The versions of names (`GLIBC_2.34`) that an ELF file has, or needs of others.
enum VersionNames {
  /// Those that the file defines; empty where it has none.
  static func defined(by file: ELFFile) -> Set<String> {
    names(ofType: SHT_GNU_verdef, in: file) { section, strings in
      var names: [String] = []
      var definition = GElf_Verdef()
      var named = GElf_Verdaux()
      var offset = 0
      while gelf_getverdef(section, Int32(clamping: offset), &definition) != nil {
        let first = offset + Int(definition.vd_aux)
        if gelf_getverdaux(section, Int32(clamping: first), &named) != nil {
          names += text(named.vda_name, strings, file)
        }
        guard definition.vd_next > 0 else { break }
        offset += Int(definition.vd_next)
      }
      return names
    }
  }

  /// Those that the file needs of libraries; empty where it needs none.
  static func needed(by file: ELFFile) -> Set<String> {
    names(ofType: SHT_GNU_verneed, in: file) { section, strings in
      var names: [String] = []
      var need = GElf_Verneed()
      var offset = 0
      while gelf_getverneed(section, Int32(clamping: offset), &need) != nil {
        var named = GElf_Vernaux()
        var entry = offset + Int(need.vn_aux)
        while gelf_getvernaux(section, Int32(clamping: entry), &named) != nil {
          names += text(named.vna_name, strings, file)
          guard named.vna_next > 0 else { break }
          entry += Int(named.vna_next)
        }
        guard need.vn_next > 0 else { break }
        offset += Int(need.vn_next)
      }
      return names
    }
  }

  private static func names(
    ofType type: Int32, in file: ELFFile,
    _ read: (_ section: UnsafeMutablePointer<Elf_Data>, _ strings: Int) -> [String]
  ) -> Set<String> {
    var names: Set<String> = []
    file.forEachSection(ofTypes: [UInt32(type)]) { section, header in
      guard let data = elf_getdata(section, nil) else { return }
      names.formUnion(read(data, Int(header.sh_link)))
    }
    return names
  }

  private static func text(_ offset: GElf_Word, _ strings: Int, _ file: ELFFile) -> [String] {
    elf_strptr(file.handle, strings, Int(offset)).map { [String(cString: $0)] } ?? []
  }
}
