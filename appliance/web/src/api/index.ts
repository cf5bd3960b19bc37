export * from "./client";
export * from "./hooks";
export * from "./queries";
export * from "./stream";
export type * from "./types";
