// Draws a map of the world in HTML: a country is darker the more of its clients move.
import type { CountryMovement, Plan } from '#judge/document/model.ts'
import { escaped } from './escaped.ts'
import { countriesTitle, countryList } from './phrases.ts'
import world from './world.json' with { type: 'json' }

const listedMax = 30
const paths: ReadonlyMap<string, string> = new Map(Object.entries(world.paths))

export const mapStyle = `
.map { display: block; max-width: 60rem } .map use { fill: #2563eb; stroke: none }
.map .land { fill: #94a3b8; fill-opacity: .35; stroke: #8884; stroke-width: .5 }
`

/** The shapes that all maps of a page refer to; '': the page has no map. */
export function mapShapes({ scenarios }: Plan): string {
  if (!scenarios.some(({ countries }) => hasAny(countries))) return ''
  const shapes = [...paths].map(([code, path]) => `<path id="in-${code}" d="${path}"/>`)
  const land = `<g id="world">${shapes.join('\n')}</g>`
  return `<svg width="0" height="0" style="position:absolute"><defs>${land}</defs></svg>`
}

/** The map of one scenario; '': nobody moves, or there is no database of countries. */
export function mapPart(countries: readonly CountryMovement[] | null): string {
  if (!hasAny(countries)) return ''
  const shades = countries
    .filter(({ place }) => paths.has(place))
    .map((country) => {
      const title = `<title>${escaped(countryList([country], 1))}</title>`
      const opacity = (0.2 + 0.8 * country.movedOfPlace).toFixed(2)
      return `<use href="#in-${country.place}" fill-opacity="${opacity}">${title}</use>`
    })
  const elsewhere = countries.filter(({ place }) => !paths.has(place))
  return [
    `<svg class="map" viewBox="0 0 ${world.width} ${world.height}" role="img" ` +
      `aria-label="${countriesTitle}"><use class="land" href="#world"/>${shades.join('')}</svg>`,
    `<p>${countriesTitle}: ${escaped(countryList(countries, listedMax))}</p>`,
    elsewhere.length === 0
      ? ''
      : `<p>Not on the map: ${escaped(countryList(elsewhere, listedMax))}</p>`,
  ].join('\n')
}

function hasAny(
  countries: readonly CountryMovement[] | null,
): countries is readonly CountryMovement[] {
  return countries !== null && countries.length > 0
}
