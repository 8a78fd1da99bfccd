/** The height of the chart of usage in pixels, kept free while it is loaded. */
export const CHART_HEIGHT = 260;
