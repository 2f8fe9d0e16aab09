// Finds a region on the globe: the middle of a country or of a continent, in whole degrees.

export interface Place {
  readonly lon: number
  readonly lat: number
}

/** ISO 3166-1 alpha-2, degrees east, degrees north: of the largest part of the land. */
const countries =
  'AD 2 43, AE 54 24, AF 66 34, AG -62 17, AI -63 18, AL 20 41, AM 45 40, AN -69 12, AO 18 -12, ' +
  'AQ 83 -85, AR -65 -35, AS -171 -14, AT 14 48, AU 134 -26, AW -70 13, AX 20 60, AZ 48 40, ' +
  'BA 18 44, BB -60 13, BD 90 24, BE 5 51, BF -2 12, BG 25 43, BH 51 26, BI 30 -3, BJ 2 10, ' +
  'BL -63 18, BM -65 32, BN 115 4, BO -65 -17, BQ -68 12, BR -53 -11, BS -78 25, BT 90 27, ' +
  'BW 24 -22, BY 28 54, BZ -89 17, CA -99 59, CD 24 -3, CF 20 7, CG 15 -1, CH 8 47, CI -6 8, ' +
  'CK -160 -21, CL -71 -34, CM 13 6, CN 103 37, CO -73 4, CR -84 10, CS 21 44, CU -79 22, ' +
  'CV -24 15, CW -69 12, CY 33 35, CZ 15 50, DD 10 51, DE 10 51, DJ 43 12, DK 9 56, DM -61 15, ' +
  'DO -71 19, DY 2 10, DZ 3 28, EC -78 -1, EE 26 59, EG 30 26, EH -12 24, ER 39 15, ES -4 40, ' +
  'ET 40 9, FI 26 64, FJ 178 -18, FK -59 -52, FM 158 7, FO -7 62, FR 2 47, FX 2 47, GA 12 -1, ' +
  'GB -2 54, GD -62 12, GE 44 42, GF -53 4, GG -3 49, GH -1 8, GI -5 36, GL -42 73, GM -15 13, ' +
  'GN -11 10, GP -62 16, GQ 10 2, GR 23 39, GS -37 -54, GT -90 16, GU 145 13, GW -15 12, ' +
  'GY -59 5, HK 114 22, HM 74 -53, HN -87 15, HR 16 45, HT -73 19, HU 19 47, HV -2 12, ID 114 0, ' +
  'IE -8 53, IL 35 31, IM -5 54, IN 80 23, IO 72 -7, IQ 44 33, IR 54 33, IS -19 65, IT 12 43, ' +
  'JE -2 49, JM -77 18, JO 37 31, JP 138 37, KE 38 1, KG 75 41, KH 105 13, KI -157 2, KM 43 -12, ' +
  'KN -63 17, KP 127 40, KR 128 36, KW 48 29, KY -81 19, KZ 67 48, LA 104 18, LB 36 34, ' +
  'LC -61 14, LI 10 47, LK 81 8, LR -9 6, LS 28 -30, LT 24 55, LU 6 50, LV 25 57, LY 18 27, ' +
  'MA -9 30, MC 7 44, MD 28 47, ME 19 43, MF -63 18, MG 47 -19, MH 171 7, MK 22 42, ML -4 17, ' +
  'MM 96 21, MN 103 47, MO 114 22, MP 146 15, MQ -61 15, MR -10 20, MS -62 17, MT 14 36, ' +
  'MU 58 -20, MV 74 4, MW 34 -13, MX -102 24, MY 115 4, MZ 36 -17, NA 17 -22, NC 165 -21, ' +
  'NE 9 17, NF 168 -29, NG 8 10, NH 167 -15, NI -85 13, NL 6 52, NO 12 64, NP 84 28, NR 167 -1, ' +
  'NU -170 -19, NZ 171 -44, OM 56 21, PA -80 9, PE -74 -9, PF -149 -18, PG 144 -7, PH 121 16, ' +
  'PK 69 30, PL 19 52, PM -56 47, PN -128 -24, PR -66 18, PS 35 32, PT -8 40, PW 135 8, ' +
  'PY -58 -23, QA 51 25, RE 56 -21, RH 30 -19, RO 25 46, RS 21 44, RU 96 66, RW 30 -2, SA 45 24, ' +
  'SB 160 -10, SC 55 -5, SD 30 16, SE 16 62, SG 104 1, SH -6 -16, SI 15 46, SK 19 49, SL -12 9, ' +
  'SM 12 44, SN -14 14, SO 46 5, SR -56 4, SS 30 7, ST 7 0, SU 96 66, SV -89 14, SX -63 18, ' +
  'SY 38 35, SZ 31 -27, TC -72 22, TD 19 15, TF 69 -49, TG 1 9, TH 101 15, TJ 71 39, TL 126 -9, ' +
  'TM 59 39, TN 10 34, TO -175 -21, TP 126 -9, TR 35 39, TT -61 10, TW 121 24, TZ 35 -6, ' +
  'UA 31 49, UG 32 1, UK -2 54, US -99 40, UY -56 -33, UZ 63 42, VA 12 42, VC -61 13, VD 106 17, ' +
  'VE -66 7, VG -65 18, VI -65 18, VN 106 17, VU 167 -15, WF -178 -14, WS -172 -14, XK 21 43, ' +
  'YD 48 16, YE 48 16, YT 45 -13, YU 21 44, ZA 25 -29, ZM 28 -13, ZW 30 -19'
const continents: Readonly<Record<string, Place>> = {
  AF: { lon: 20, lat: 3 },
  AN: { lon: 0, lat: -80 },
  AS: { lon: 90, lat: 42 },
  EU: { lon: 15, lat: 50 },
  NA: { lon: -98, lat: 42 },
  OC: { lon: 140, lat: -24 },
  SA: { lon: -60, lat: -14 },
}

const byCountry = new Map(
  countries.split(', ').map((row) => {
    const [code = '', lon, lat] = row.split(' ')
    return [code, { lon: Number(lon), lat: Number(lat) }] as const
  }),
)

/** Codes that stand for no country any more, and a second one of the United Kingdom. */
const former = new Set('AN CS DD DY FX HV NH RH SU TP UK VD YD YU'.split(' '))

export const placesOfCountries = (): (readonly [code: string, place: Place])[] =>
  [...byCountry].filter(([code]) => !former.has(code))

/** @param region as a member has it: `DE`, `US-CA`, `continent:EU`. undefined: it names no place */
export function placeOf(region: string): Place | undefined {
  const continent = /^continent:(\w\w)$/.exec(region)?.[1]
  if (continent !== undefined) return continents[continent]
  return byCountry.get(/^([A-Z]{2})(?:-[A-Z0-9]{1,3})?$/.exec(region)?.[1] ?? '')
}
