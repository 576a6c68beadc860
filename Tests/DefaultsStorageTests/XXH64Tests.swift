import Testing

@testable import DefaultsStorage

@Suite struct XXH64Tests {
    /// What the reference implementation gives for bytes (7 i + count) mod 256, with seed 0 and
    /// with seed 2654435761.
    ///
    /// The counts stand around every boundary of the algorithm.
    @Test(
        "The hash equals that of the reference implementation",
        arguments: [
            (0, 0xef46_db37_51d8_e999, 0xac75_fda2_929b_17ef),
            (1, 0x8a41_2781_1b21_e730, 0x211a_e132_47ce_135f),
            (3, 0x31d2_363f_52e5_64c9, 0x96d2_a5e5_83dd_d738),
            (4, 0xb4d5_16af_63f9_c743, 0x0b4f_c594_5a0d_7fcd),
            (7, 0x2163_df11_c0cd_f8cd, 0x677c_c0f5_af56_0a6e),
            (8, 0xd547_4d6c_a50d_ef58, 0x7d61_4570_5ac8_1a3f),
            (14, 0xbb83_ff80_272a_e683, 0x5f28_a679_5beb_9a13),
            (31, 0xc025_b4c3_c488_0c7a, 0x5458_c554_929d_b390),
            (32, 0x178a_e25c_ee6f_7994, 0x4e5a_8467_6a71_a55b),
            (33, 0x4072_a282_63e9_77ef, 0xfba9_e8d1_9c16_c59a),
            (63, 0x4794_8108_b5ff_3162, 0x34f6_8fa6_5851_bac7),
            (64, 0xcf35_552f_599b_a94d, 0x6d72_7d72_d3ed_c20f),
            (100, 0x3a7f_dc0f_ebf6_f5dc, 0x9f00_d77c_6061_b29f),
            (222, 0x2184_993b_190b_2745, 0xecb2_5119_826a_bf29),
        ] as [(Int, UInt64, UInt64)])
    func reference(count: Int, unseeded: UInt64, seeded: UInt64) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
        #expect(XXH64.hash(bytes, seed: 0) == unseeded)
        #expect(XXH64.hash(bytes, seed: 2_654_435_761) == seeded)
    }
}
