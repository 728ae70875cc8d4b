import { start } from "limpet/page";
import { LiveSource } from "limpet/sources";

const token = new URLSearchParams(location.search).get("token") || "";
start(new LiveSource(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`));
