// Numbers every two-letter country code as a row, with its default continent.

/** The two letters of a code in one number, the first in the high octet; 0 is unknown. */
export type PackedCode = number

/** @returns 0 when `text` is not two letters; lower case counts as upper case */
export function packCode(text: string): PackedCode {
  if (text.length !== 2) return 0
  const high = capital(text.charCodeAt(0))
  const low = capital(text.charCodeAt(1))
  return high === 0 || low === 0 ? 0 : (high << 8) | low
}

function capital(code: number): number {
  const upper = code >= 0x61 && code <= 0x7a ? code - 0x20 : code
  return upper >= 0x41 && upper <= 0x5a ? upper : 0
}

/** @returns '' for 0 */
export function unpackCode(code: PackedCode): string {
  return code === 0 ? '' : String.fromCharCode(code >> 8, code & 0xff)
}

/**
 * Codes of ISO 3166-1 by continent, with XK (Kosovo) and AN (the Antilles, until 2010), which
 * databases have. Cyprus, Russia, Turkey and the Caucasus lie on two; they are where GeoNames, and
 * so MaxMind and DB-IP, put them.
 */
const countriesByContinent: Readonly<Record<string, string>> = {
  AF:
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA ' +
    'MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW',
  AN: 'AQ BV GS HM TF',
  AS:
    'AE AF AM AZ BD BH BN BT CC CN CX GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB ' +
    'LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TM TR TW UZ VN YE',
  EU:
    'AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE ' +
    'LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  NA:
    'AG AI AN AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS ' +
    'MX NI PA PM PR SV SX TC TT US VC VG VI',
  OC: 'AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS',
  SA: 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
}

export const continentCodes: readonly string[] = Object.freeze(Object.keys(countriesByContinent))

const countryRows = 26 * 26
/** Number of rows: row 0, a row for each pair of letters, and one for each continent alone. */
export const geoCountryRows = 1 + countryRows + continentCodes.length

/** Returns the row of a country, the same in every database. @returns 0 for an invalid code */
export function countryRow(code: PackedCode): number {
  if (code === 0) return 0
  return 1 + ((code >> 8) - 0x41) * 26 + ((code & 0xff) - 0x41)
}

/** Returns the row of networks with only a known continent. @returns 0 for an invalid continent */
export function continentRow(code: PackedCode): number {
  const index = continentCodes.indexOf(unpackCode(code))
  return index === -1 ? 0 : 1 + countryRows + index
}

/** Fills both columns for all rows; each has `geoCountryRows` entries. */
export function fillCountryColumns(countryCode: Uint16Array, continentCode: Uint16Array): void {
  for (let index = 0; index < countryRows; index++) {
    const code = ((0x41 + Math.floor(index / 26)) << 8) | (0x41 + (index % 26))
    countryCode[1 + index] = code
  }
  for (const [continent, countries] of Object.entries(countriesByContinent)) {
    const packed = packCode(continent)
    continentCode[continentRow(packed)] = packed
    for (const country of countries.split(' '))
      continentCode[countryRow(packCode(country))] = packed
  }
}

/** Whether a region of this name can match clients: it is one of the codes above. */
export function isCountryCode(text: string): boolean {
  const code = packCode(text)
  return code !== 0 && defaultContinents[countryRow(code)] !== 0
}

const defaultContinents = new Uint16Array(geoCountryRows)
fillCountryColumns(new Uint16Array(geoCountryRows), defaultContinents)
