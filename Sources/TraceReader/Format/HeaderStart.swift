import CTraceFormat

/// The first fields of a trace, which are the same in all: they say what the file is.
///
/// Nobody reads on where they are damaged. But the checksum of the fields behind them, which are different in each trace,
/// tells what the file is as well, and then what these have been is known.
enum HeaderStart {
  /// Whether the fields of a header that never change are others than its checksum is of.
  static func isAgainstChecksum(_ bytes: [UInt8]) -> Bool {
    guard var fields = fields(bytes) else { return false }
    return fields.fixed_check != 0 && fields.fixed_check != mt_header_check(&fields)
  }

  /// The header with what its first fields have been.
  ///
  /// - Returns: nil where they are not damaged, a version aside, which may be one that is not known yet; and where
  ///   the checksum does not tell what they have been.
  static func mended(_ bytes: [UInt8]) -> [UInt8]? {
    guard var fields = fields(bytes), fields.fixed_check != 0, !isIntact(fields) else { return nil }
    withUnsafeMutableBytes(of: &fields.magic) { $0.copyBytes(from: MT_FILE_MAGIC.utf8) }
    fields.byte_order = UInt32(MT_BYTE_ORDER_MARK)
    fields.header_size = UInt32(MT_FILE_HEADER_SIZE)
    guard fields.fixed_check == mt_header_check(&fields) else { return nil }
    if mt_format_is_known(fields.major) == 0 {
      let isAnnounced = fields.flags & MT_HEADER_ANNOUNCED.rawValue != 0
      fields.major = UInt16(isAnnounced ? MT_FORMAT_MAJOR_ANNOUNCED : MT_FORMAT_MAJOR)
      fields.minor = UInt16(MT_FORMAT_MINOR)
    }
    return withUnsafeBytes(of: fields) { Array($0) }
  }

  private static func isIntact(_ fields: mt_file_header) -> Bool {
    withUnsafeBytes(of: fields.magic) { $0.elementsEqual(MT_FILE_MAGIC.utf8) }
      && fields.byte_order == MT_BYTE_ORDER_MARK && fields.header_size == MT_FILE_HEADER_SIZE
  }

  private static func fields(_ bytes: [UInt8]) -> mt_file_header? {
    guard bytes.count >= MemoryLayout<mt_file_header>.size else { return nil }
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: mt_file_header.self) }
  }
}
