// Draws a chart with uPlot in the colours of the style sheet.
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Series {
  readonly name: string
  /** Name of a custom property of the style sheet. */
  readonly color: string
}

export function drawPlot(
  element: HTMLElement,
  series: readonly Series[],
  data: readonly (readonly (number | null)[])[],
  height: number,
): UPlot {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color('--text-soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
  }
  return new UPlot(
    {
      width: element.clientWidth,
      height,
      cursor: { y: false, points: { size: 6 } },
      legend: { live: true },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, (high || 0) * 1.15)] } },
      axes: [axis, { ...axis, size: 52 }],
      series: [
        {},
        ...series.map((one) => ({
          label: one.name,
          stroke: color(one.color),
          width: 2,
          points: { show: false },
          value: (_plot: UPlot, value: number | null) =>
            value === null ? '–' : value.toLocaleString(undefined, { maximumFractionDigits: 1 }),
        })),
      ],
    },
    data as UPlot.AlignedData,
    element,
  )
}
